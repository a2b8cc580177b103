/** The first number from `from` up to, but not including, `to` that solves the challenge. */
export type Search = (from: number, to: number) => number | undefined

type Schedule = (bytes: Uint8Array, at: number) => Uint32Array
type Constants = { rounds: Uint32Array; initial: Uint32Array }
type Sha256 = { initial: Uint32Array; addBlock(hash: Uint32Array, bytes: Uint8Array, at: number): void }

/**
 * Finds the number with SHA-256(salt + number) = challenge. The widget has its own SHA-256 because pages served by
 * plain HTTP have no `crypto.subtle`, and because `crypto.subtle` is slower for a hash of one block.
 *
 * The worker gets the functions of this file as text, so that each can use nothing but its parameters.
 */
export function makeSearch(salt: string, challenge: string, sha256 = makeSha256()): Search {
  const { initial, addBlock } = sha256
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
    const bytes = paddedEnd(String(number))
    const hash = afterWhole.slice()
    for (let at = 0; at < bytes.length; at += 64) addBlock(hash, bytes, at)
    return hash
  }

  /** The rest of the salt, the digits, and the padding of FIPS 180-4, section 5.1.1: 0x80, zeros, and the length in bits. */
  function paddedEnd(digits: string): Uint8Array {
    const rest = start.length - whole
    const length = rest + digits.length
    const bytes = new Uint8Array(length + 9 > 64 ? (length + 9 > 128 ? 192 : 128) : 64)
    bytes.set(start.subarray(whole))
    for (let i = 0; i < digits.length; i++) bytes[rest + i] = digits.charCodeAt(i)
    bytes[length] = 0x80
    new DataView(bytes.buffer).setUint32(bytes.length - 4, (whole + length) * 8)
    return bytes
  }
}

/** Adds a block of 64 bytes to a hash (FIPS 180-4, section 6.2.2). */
export function makeSha256(schedule = makeSchedule(), { rounds, initial } = makeConstants()): Sha256 {
  return { initial, addBlock }

  function addBlock(hash: Uint32Array, bytes: Uint8Array, at: number) {
    const words = schedule(bytes, at)
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
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + of(rounds, i) + of(words, i)) | 0
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
  function of(list: Uint32Array, at: number): number {
    return list[at] ?? 0
  }

  function turn(x: number, by: number): number {
    return (x >>> by) | (x << (32 - by))
  }
}

/** The message schedule: the 16 words of a block, and 48 words that follow from them. */
export function makeSchedule(): Schedule {
  const words = new Uint32Array(64)

  return (bytes, at) => {
    readWords(bytes, at)
    extendWords()
    return words
  }

  function readWords(bytes: Uint8Array, at: number) {
    const block = new DataView(bytes.buffer, bytes.byteOffset + at)
    for (let i = 0; i < 16; i++) words[i] = block.getUint32(i * 4)
  }

  function extendWords() {
    for (let i = 16; i < 64; i++) {
      const x = of(i - 15)
      const y = of(i - 2)
      const s0 = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)
      const s1 = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10)
      words[i] = of(i - 16) + s0 + of(i - 7) + s1
    }
  }

  function of(at: number): number {
    return words[at] ?? 0
  }

  function turn(x: number, by: number): number {
    return (x >>> by) | (x << (32 - by))
  }
}

/** The constants of SHA-256: fractions of the square and cube roots of the first primes. */
export function makeConstants(): Constants {
  const rounds = new Uint32Array(64)
  const initial = new Uint32Array(8)
  let found = 0
  for (let n = 2; found < 64; n++) {
    if (!isPrime(n)) continue
    if (found < 8) initial[found] = fraction(n ** (1 / 2))
    rounds[found++] = fraction(n ** (1 / 3))
  }
  return { rounds, initial }

  function isPrime(n: number): boolean {
    for (let d = 2; d * d <= n; d++) if (n % d === 0) return false
    return true
  }

  function fraction(root: number): number {
    return (root % 1) * 2 ** 32
  }
}
