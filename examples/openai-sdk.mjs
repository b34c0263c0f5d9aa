// A program written for OpenAI's API, on Parley. Start a server first: npm start
// Then: node examples/openai-sdk.mjs
import OpenAI from "openai";

const client = new OpenAI({
  baseURL: `${process.env.PARLEY_URL ?? "http://127.0.0.1:4141"}/v1`,
  apiKey: process.env.PARLEY_API_KEY ?? "none",
});

const { data: models } = await client.models.list();
const model = models[0]?.id ?? "";
console.log(`Model: ${model}\n`);

// A response, streamed.
const stream = client.responses.stream({ model, input: "What is (3 + 4) * 12?" });
for await (const event of stream) {
  if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
}
const first = await stream.finalResponse();
console.log(`\n\n${first.id}: ${first.output.map(({ type }) => type).join(", ")}`);

// It can be followed again from any of its events, now or after a restart of the server.
const again = await client.responses.retrieve(first.id, { stream: true, starting_after: 0 });
let events = 0;
for await (const _event of again) events += 1;
console.log(`Replayed ${events} events`);

// After it, a question whose answer is data.
const city = await client.responses.create({
  model,
  previous_response_id: first.id,
  input: "Name a city.",
  text: {
    format: {
      type: "json_schema",
      name: "city",
      schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  },
});
console.log(`Data: ${city.output_text}`);
