import { describe, expect, it } from "vitest";
import {
  hostName,
  isAllowedOrigin,
  isKnownHost,
  isLoopback,
  isSameOrigin,
  mayUseCookie,
  type RequestPlace,
} from "./host-and-origin.js";

const places = {
  hosts: new Set(["chat.example.org"]),
  origins: new Set(["https://app.example.org"]),
};

function place(given: Partial<RequestPlace>): RequestPlace {
  return {
    method: "GET",
    host: "localhost:4141",
    origin: undefined,
    fetchSite: undefined,
    fetchMode: undefined,
    isUpgrade: false,
    ...given,
  };
}

describe("the host", () => {
  it.each([
    ["localhost", true],
    ["localhost:4141", true],
    ["LOCALHOST:4141", true],
    ["parley.localhost:4141", true],
    ["127.0.0.1:4141", true],
    ["127.8.8.8", true],
    ["[::1]:4141", true],
    ["chat.example.org", true],
    ["chat.example.org:8443", true],
    ["chat.example.org.", true],
    ["192.168.1.7:4141", true],
    ["[fe80::1]:4141", true],
    ["evil.example.com", false],
    ["evil.example.com:4141", false],
    ["localhost.evil.example.com", false],
    ["chat.example.org.evil.com", false],
    ["127.0.0.1.evil.com", false],
    ["0.0.0.0:4141", false],
    ["localhost/../x", false],
    ["user@localhost", false],
    ["localhost evil.com", false],
    ["", false],
  ])("%s is ours: %s", (host, expected) => {
    expect(isKnownHost(host, places)).toBe(expected);
  });

  it("is not asked for where no browser can be involved", () => {
    expect(isKnownHost(undefined, places)).toBe(true);
  });

  it("is read without its port and brackets", () => {
    expect(hostName("[::1]:80")).toBe("::1");
    expect(hostName("a.b:1")).toBe("a.b");
    expect(hostName("a b")).toBeUndefined();
  });

  it("is this machine, by any of its names", () => {
    for (const name of ["localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]", "::ffff:127.0.0.1"]) {
      expect(isLoopback(name)).toBe(true);
    }
    for (const name of ["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.evil.com"])
      expect(isLoopback(name)).toBe(false);
  });
});

describe("the origin", () => {
  const own = "http://localhost:4141";
  const listed = "https://app.example.org";
  const foreign = "https://evil.example.com";

  it.each([
    // Other programs send none of this.
    [{ method: "POST" }, true],
    [{ method: "GET" }, true],
    [{ isUpgrade: true }, true],
    // The page of this host.
    [{ method: "POST", origin: own, fetchSite: "same-origin" }, true],
    [{ method: "GET", fetchSite: "same-origin" }, true],
    [{ isUpgrade: true, origin: own, fetchSite: "same-origin" }, true],
    // Behind a proxy that terminates TLS, the scheme differs and the host does not.
    [{ method: "POST", host: "chat.example.org", origin: "https://chat.example.org" }, true],
    // Pages that are allowed.
    [{ method: "POST", origin: listed, fetchSite: "cross-site" }, true],
    [{ method: "GET", origin: listed, fetchSite: "cross-site" }, true],
    [{ isUpgrade: true, origin: listed, fetchSite: "cross-site" }, true],
    // All others.
    [{ method: "POST", origin: foreign }, false],
    [{ method: "DELETE", origin: foreign, fetchSite: "cross-site" }, false],
    [{ method: "POST", origin: "null" }, false],
    [{ method: "POST", fetchSite: "cross-site" }, false],
    [{ method: "POST", fetchSite: "same-site" }, false],
    [{ isUpgrade: true, origin: foreign }, false],
    [{ isUpgrade: true, origin: "null" }, false],
    [{ isUpgrade: true, origin: "http://localhost:5173" }, false],
    [{ method: "POST", origin: "http://localhost:5173", fetchSite: "same-site" }, false],
    [{ method: "GET", origin: foreign, fetchSite: "cross-site", fetchMode: "cors" }, false],
    [{ method: "GET", fetchSite: "cross-site", fetchMode: "no-cors" }, false],
    // A link from elsewhere may be followed, and a user may type the address.
    [{ method: "GET", fetchSite: "cross-site", fetchMode: "navigate" }, true],
    [{ method: "GET", fetchSite: "none", fetchMode: "navigate" }, true],
  ] as const)("of %o is let in: %s", (given, expected) => {
    expect(isAllowedOrigin(place(given), places)).toBe(expected);
  });

  it("is the same only with the same host and port", () => {
    expect(isSameOrigin("http://localhost:4141", "localhost:4141")).toBe(true);
    expect(isSameOrigin("https://a.org", "a.org:443")).toBe(true);
    expect(isSameOrigin("http://localhost:5173", "localhost:4141")).toBe(false);
    expect(isSameOrigin("null", "localhost")).toBe(false);
    expect(isSameOrigin("nonsense", "localhost")).toBe(false);
  });

  it("decides whether a cookie may speak", () => {
    expect(mayUseCookie(place({}))).toBe(true);
    expect(mayUseCookie(place({ origin: own, fetchSite: "same-origin" }))).toBe(true);
    expect(mayUseCookie(place({ fetchSite: "none" }))).toBe(true);
    expect(mayUseCookie(place({ origin: listed }))).toBe(false);
    expect(mayUseCookie(place({ fetchSite: "same-site" }))).toBe(false);
    expect(mayUseCookie(place({ fetchSite: "cross-site" }))).toBe(false);
  });
});
