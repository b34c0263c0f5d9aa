// Shows HTML that a model wrote, in a frame without an origin, without a network and without rights: the server's policy
// for this document enforces that, and so does the element that holds it. No policy covers calls between browsers, which can reach
// any address: this script removes them, and the frames inside this one, whose windows would have them again.
{
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"])
    Object.defineProperty(window, name, { value: undefined });
  const { apply } = Reflect;
  const { remove, attachShadow } = Element.prototype;
  const observe = MutationObserver.prototype.observe;
  const findIn = { 9: Document.prototype.querySelectorAll, 11: DocumentFragment.prototype.querySelectorAll };
  const Observer = MutationObserver;
  const lengthOf = Object.getOwnPropertyDescriptor(NodeList.prototype, "length").get;
  const keepFramesOut = (root, kind) => {
    const removeFrames = () => {
      const found = apply(findIn[kind], root, ["iframe, frame, object, embed, fencedframe"]);
      for (let at = 0; at < apply(lengthOf, found, []); at += 1) apply(remove, found[at], []);
    };
    apply(observe, new Observer(removeFrames), [root, { childList: true, subtree: true }]);
  };
  keepFramesOut(document, 9);
  Element.prototype.attachShadow = function (options) {
    const root = apply(attachShadow, this, [options]);
    keepFramesOut(root, 11);
    return root;
  };
  // These make shadow roots without asking.
  delete Element.prototype.setHTMLUnsafe;
  delete ShadowRoot.prototype.setHTMLUnsafe;
}

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
