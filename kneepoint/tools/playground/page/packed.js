// Unpacks a text that gzip packed and Python's b85encode wrote in base 85 (RFC 1924).
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

function bytesOf(text) {
  const values = new Uint8Array(128);
  [...DIGITS].forEach((digit, value) => (values[digit.charCodeAt(0)] = value));
  const bytes = new DataView(new ArrayBuffer(Math.ceil(text.length / 5) * 4));
  for (let at = 0; at < text.length; at += 5) {
    let word = 0;
    for (let k = at; k < at + 5; ++k) word = word * 85 + (k < text.length ? values[text.charCodeAt(k)] : 84);
    bytes.setUint32((at / 5) * 4, word);
  }
  return bytes.buffer.slice(0, text.length - Math.ceil(text.length / 5));
}

export const unpack = async (text) => new Response(new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip")));
