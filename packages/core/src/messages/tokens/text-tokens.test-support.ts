/** A text and the number of its o200k tokens, counted once with gpt-tokenizer 4.0.0. */
export interface CountedText {
  readonly kind: string;
  readonly tokens: number;
  readonly text: string;
}

/** Texts that the weights were not fitted to. */
export const countedTexts: readonly CountedText[] = [
  {
    kind: "prose",
    tokens: 85,
    text: "The last tram leaves at half past eleven, and if you miss it you walk. Nobody minds in summer, when the road along the canal smells of lime trees and the bars put their chairs outside. In January it is a different matter. My neighbour once arrived home at two in the morning with ice in his beard and swore he would buy a bicycle; he told me about it again the following winter, on foot.",
  },
  {
    kind: "code",
    tokens: 102,
    text: `export async function retry<T>(work: () => Promise<T>, attempts = 3, delayMs = 250): Promise<T> {
  let lastError: unknown;
  for (let attempt = 0; attempt < attempts; attempt++) {
    try {
      return await work();
    } catch (error) {
      lastError = error;
      await new Promise((resolve) => setTimeout(resolve, delayMs * 2 ** attempt));
    }
  }
  throw lastError;
}
`,
  },
  {
    kind: "json",
    tokens: 90,
    text: '{"id":"evt_4481","type":"invoice.paid","created":1738761223,"data":{"customer":"Nordlys AS","amount":129900,"currency":"NOK","lines":[{"sku":"PLAN-TEAM","qty":12,"unit":9900},{"sku":"SUPPORT","qty":1,"unit":11100}],"paid":true,"dueDate":"2025-02-28","note":null}}',
  },
  {
    kind: "markdown",
    tokens: 99,
    text: "## Upgrade notes\n\n1. **Stop** the workers with `queue stop --wait`.\n2. Run the migration:\n\n   ```sh\n   npm run migrate -- --to 14\n   ```\n\n3. Start one worker and watch the [dashboard](https://status.example.com).\n\n| Step | Takes | Can be undone |\n| --- | --- | --- |\n| migrate | ~2 min | yes |\n| reindex | ~20 min | no |\n\n> Don't skip the backup.\n",
  },
  {
    kind: "european",
    tokens: 89,
    text: "Gestern haben wir endlich die Bienenstöcke umgestellt, obwohl es den ganzen Vormittag genieselt hatte. Am Nachmittag brach die Sonne durch, und sofort war der Garten voller Gesumme. Les voisins sont venus voir, un peu inquiets d'abord, puis franchement curieux. El más pequeño quería saber si las abejas también duermen la siesta. Nessuno di noi sapeva rispondere.",
  },
  {
    kind: "european",
    tokens: 88,
    text: "Вчера в доме отключили воду, и соседи впервые за много лет разговорились на лестнице. Кто-то вынес табуретки, кто-то термос, а дети устроили гонки на самокатах. Wieczorem ktoś przyniósł gitarę i śpiewaliśmy prawie do północy. Την επόμενη μέρα όλοι χαιρετιόντουσαν σαν παλιοί φίλοι.",
  },
  {
    kind: "chinese",
    tokens: 104,
    text: "昨天傍晚，小区的电梯又坏了。住在十二楼的老教授提着两袋书，一层一层往上走，走到七楼的时候遇见了正要出门的外卖员。外卖员二话没说，接过书就往上跑。后来大家才知道，那两袋书是老教授要捐给社区图书室的，而那个外卖员，正是图书室最早的读者之一。",
  },
  {
    kind: "japanese",
    tokens: 98,
    text: "駅前の小さな映画館が、今月いっぱいで閉館するそうです。学生のころ、授業をさぼって何度も通った場所なので、少しさびしい気持ちになりました。最後の日には、開館したときと同じ白黒の映画が上映されるとのこと。仕事を早めに終わらせて、久しぶりに友人と見に行こうと思っています。",
  },
  {
    kind: "korean",
    tokens: 93,
    text: "지난 토요일에 동생과 함께 오래된 자전거를 고쳤다. 체인은 녹이 슬었고 바퀴에는 바람이 하나도 없었지만, 두 시간쯤 매달리고 나니 제법 그럴듯해졌다. 저녁에는 강변까지 달려 보았다. 브레이크에서 이상한 소리가 났지만 바람이 시원해서 아무도 신경 쓰지 않았다.",
  },
  {
    kind: "arabic",
    tokens: 69,
    text: "في نهاية الأسبوع الماضي قررنا تنظيف المخزن القديم خلف البيت. وجدنا بين الصناديق دراجة أبي الأولى ومذياعا لا يزال يعمل، ورسائل كتبتها جدتي قبل خمسين عاما. جلسنا على الأرض نقرأها حتى غابت الشمس، ونسينا تماما ما جئنا من أجله.",
  },
  {
    kind: "hindi",
    tokens: 64,
    text: "पिछले रविवार को हमारी गली में बिजली चली गई और सब लोग छत पर आ गए। किसी ने पुराना रेडियो निकाला, किसी ने मूँगफली बाँटी और बच्चे तारे गिनने लगे। दो घंटे बाद जब बिजली वापस आई, तो कोई नीचे जाने को तैयार नहीं था।",
  },
  {
    kind: "emoji",
    tokens: 58,
    text: "Guess who passed the driving test today 🚗🎉🎉 third time lucky 😅🍀 the examiner even smiled 😱👏 Pizza tonight? 🍕🍕 I'm buying 💸😂 bring your sister ❤️ and tell grandma I won't need the bus anymore 🚌👋🥲",
  },
];
