/** The demo model's long answer: a bit of everything that a page must render. */
export const longAnswer = `# How a turn survives

You asked for something long, so here is what happens while you read it. Each word travels at once to everyone who watches this conversation, and soon after into the log.

## One log

A conversation is **one log**: the model's memory, the database's truth and the stream that every client follows are the same rows. Nothing is copied between a cache, a table and a page, so nothing can disagree.

| what you do | what you see | what is durable |
| --- | --- | --- |
| send a message | a receipt | your message and the turn |
| read along | every word | all but the last moment |
| watch a tool | its output, then its result | the call before it starts, the result before you see it |
| stop | the partial answer | all of it, marked as stopped |

## Steps and turns

1. The model is called. Its words are *provisional* while they stream.
2. When it is done, its message is **committed**, before any tool runs.
3. The tools run side by side. Their results are committed together, and whatever you steered in goes along.
4. When no tool is called any more, the turn is **sealed**. A sealed turn never changes.

> A crash between any two of these lines loses nothing that was reported as kept.

## In code

\`\`\`ts
const receipt = await runtime.forOwner("me").send({ message: "Hello" });
for await (const { event } of runtime.forOwner("me").events(receipt.conversationId, receipt.turnId)) {
  if (event.type === "text-delta") process.stdout.write(event.delta);
}
\`\`\`

Reload the page now, or open it a second time: you join in the middle of this very sentence and miss nothing, because a place in the stream has a name, the *cursor*, and a client that presents it gets everything after it.

## Things to try while I answer

- press *stop*: what I have written so far stays
- send another message: it waits in the queue, and you can still edit it
- fork the conversation before this answer and ask something else

That was long enough. Thank you for reading a machine that only pretends to think.`;
