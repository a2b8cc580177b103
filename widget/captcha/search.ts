/** The first number from `from` up to, but not including, `to` that solves the challenge. */
export type Search = (from: number, to: number) => number | undefined

/**
 * Finds the number with SHA-256(salt + number) = challenge. The widget has its own SHA-256 because pages served by
 * plain HTTP have no `crypto.subtle`, and because `crypto.subtle` is slower for a hash of one block.
 *
 * The worker gets this function as text, so that it can use nothing but its parameters.
 */
export function makeSearch(salt: string, challenge: string): Search {
  const { constants, initial } = primes()
  const words = new Uint32Array(64)
  const start = new TextEncoder().encode(salt)
  const wanted = Uint32Array.from({ length: 8 }, (_, i) => Number.parseInt(challenge.slice(i * 8, i * 8 + 8), 16))
  const whole = start.length - (start.length % 64)
  const afterWhole = initial.slice()
  for (let at = 0; at < whole; at += 64) addBlock(afterWhole, start, at)

  return (from, to) => {
    for (let number = from; number < to; number++) if (isWanted(hashOf(number))) return number
  }

  function isWanted(hash: Uint32Array): boolean {
    return hash.every((word, i) => word === wanted[i])
  }

  function hashOf(number: number): Uint32Array {
    const digits = String(number)
    const rest = start.length - whole
    const length = rest + digits.length
    const block = new Uint8Array(length + 9 > 64 ? (length + 9 > 128 ? 192 : 128) : 64)
    block.set(start.subarray(whole))
    for (let i = 0; i < digits.length; i++) block[rest + i] = digits.charCodeAt(i)
    block[length] = 0x80
    new DataView(block.buffer).setUint32(block.length - 4, (whole + length) * 8)
    const hash = afterWhole.slice()
    for (let at = 0; at < block.length; at += 64) addBlock(hash, block, at)
    return hash
  }

  /** FIPS 180-4, section 6.2.2. */
  function addBlock(hash: Uint32Array, bytes: Uint8Array, at: number) {
    for (let i = 0; i < 16; i++) {
      const b = at + i * 4
      words[i] = (of(bytes, b) << 24) | (of(bytes, b + 1) << 16) | (of(bytes, b + 2) << 8) | of(bytes, b + 3)
    }
    for (let i = 16; i < 64; i++) {
      const x = of(words, i - 15)
      const y = of(words, i - 2)
      const s0 = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)
      const s1 = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10)
      words[i] = of(words, i - 16) + s0 + of(words, i - 7) + s1
    }
    let a = of(hash, 0)
    let b = of(hash, 1)
    let c = of(hash, 2)
    let d = of(hash, 3)
    let e = of(hash, 4)
    let f = of(hash, 5)
    let g = of(hash, 6)
    let h = of(hash, 7)
    for (let i = 0; i < 64; i++) {
      const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + of(constants, i) + of(words, i)) | 0
      const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
      h = g
      g = f
      f = e
      e = (d + t1) | 0
      d = c
      c = b
      b = a
      a = (t1 + t2) | 0
    }
    hash[0] = of(hash, 0) + a
    hash[1] = of(hash, 1) + b
    hash[2] = of(hash, 2) + c
    hash[3] = of(hash, 3) + d
    hash[4] = of(hash, 4) + e
    hash[5] = of(hash, 5) + f
    hash[6] = of(hash, 6) + g
    hash[7] = of(hash, 7) + h
  }

  /** The element at an index. All indexes of this code exist. */
  function of(list: Uint8Array | Uint32Array, at: number): number {
    return list[at] ?? 0
  }

  function turn(x: number, by: number): number {
    return (x >>> by) | (x << (32 - by))
  }

  /** The constants of SHA-256: fractions of the square and cube roots of the first primes. */
  function primes() {
    const constants = new Uint32Array(64)
    const initial = new Uint32Array(8)
    let found = 0
    for (let n = 2; found < 64; n++) {
      let isPrime = true
      for (let d = 2; d * d <= n; d++) if (n % d === 0) isPrime = false
      if (!isPrime) continue
      if (found < 8) initial[found] = fraction(n ** (1 / 2))
      constants[found++] = fraction(n ** (1 / 3))
    }
    return { constants, initial }
  }

  function fraction(root: number): number {
    return (root % 1) * 2 ** 32
  }
}
