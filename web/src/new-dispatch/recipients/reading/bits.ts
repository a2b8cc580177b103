/** One bit for each recipient. */
export class Bits {
  #bytes: Uint8Array<ArrayBuffer>

  constructor(bytes: Uint8Array<ArrayBuffer> = new Uint8Array(1024)) {
    this.#bytes = bytes
  }

  set(at: number) {
    const byte = at >>> 3
    if (byte >= this.#bytes.length) {
      const larger = new Uint8Array(Math.max(byte + 1, this.#bytes.length * 2))
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    this.#bytes[byte] = (this.#bytes[byte] ?? 0) | (1 << (at & 7))
  }

  has = (at: number) => ((this.#bytes[at >>> 3] ?? 0) & (1 << (at & 7))) !== 0

  get bytes() {
    return this.#bytes
  }
}
