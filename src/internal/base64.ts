const DIGITS = new TextEncoder().encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const PADDING = 61;

/** `btoa` takes a second for 20 MB in Node, and not every runtime has `Buffer` or `toBase64`. */
export function base64Of(bytes: Uint8Array): string {
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
  for (let at = 0, to = 0; at < bytes.length; at += 3, to += 4) {
    const triple = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    for (let digit = 0; digit < 4; digit += 1) text[to + digit] = DIGITS[(triple >> (18 - 6 * digit)) & 63] ?? 0;
  }
  const missing = (3 - (bytes.length % 3)) % 3;
  return new TextDecoder().decode(text.fill(PADDING, text.length - missing));
}

/** Decodes the result of `base64Of`. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}
