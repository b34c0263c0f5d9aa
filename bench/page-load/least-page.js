// A minimal page: a field, and text as it arrives. No markdown, no history, no socket.
const field = document.createElement("textarea");
const answers = document.createElement("pre");
answers.id = "answers";
document.body.append(answers, field);
field.addEventListener("keydown", async (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ message: field.value });
  const { body: stream } = await fetch("/chat", { method: "POST", headers, body });
  let rest = "";
  for (const reader = stream.pipeThrough(new TextDecoderStream()).getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const event = JSON.parse(line);
      if (event.type === "text-delta") answers.append(event.delta);
    }
  }
});
