// Shows HTML that a model wrote, in a frame without an origin, without a network and without rights. The server's
// policy for this document says so, and the element that holds it; this script only writes the document.
addEventListener(
  "message",
  ({ source, data }) => {
    if (source !== parent || typeof data?.html !== "string") return;
    document.open();
    document.write(data.html);
    document.close();
  },
  { once: true },
);
parent.postMessage({ ready: true }, "*");
