/** Numbers from 0 up to 1 that are the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Shares of a load that sum up to 1: company n has 1 / n^skew of the largest one. 0: all alike. 1: Zipf's law. */
export function skewedShares(count: number, skew: number): Float64Array {
  const shares = Float64Array.from({ length: count }, (_, i) => 1 / (i + 1) ** skew)
  const sum = shares.reduce((all, share) => all + share, 0)
  return shares.map(share => share / sum)
}

/** Draws numbers with the given shares: the place of a random number among their sums. */
export function createDraw(shares: Float64Array, random: () => number): () => number {
  let sum = 0
  const sums = shares.map(share => (sum += share))
  return () => {
    const wanted = random() * sum
    let [low, high] = [0, sums.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle]! <= wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}
