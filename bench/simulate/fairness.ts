/**
 * Jain's index of fairness: 1 when all values are alike, 1/n when one of n has everything.
 */
export function jainsIndex(values: ArrayLike<number>): number {
  let [sum, squares] = [0, 0]
  for (let i = 0; i < values.length; i++) {
    sum += values[i]!
    squares += values[i]! ** 2
  }
  return squares === 0 ? 1 : sum ** 2 / (values.length * squares)
}

/**
 * The max-min fair division: no demand gets more than it asks for, and the rest is divided alike. It is the best that a company
 * can expect whose neighbours ask for more than there is.
 */
export function fairShares(demands: ArrayLike<number>, capacity: number): Float64Array {
  const shares = new Float64Array(demands.length)
  const rising = Array.from({ length: demands.length }, (_, i) => i).sort((a, b) => demands[a]! - demands[b]!)
  let left = capacity
  for (const [place, company] of rising.entries()) {
    const share = Math.min(demands[company]!, left / (rising.length - place))
    shares[company] = share
    left -= share
  }
  return shares
}
