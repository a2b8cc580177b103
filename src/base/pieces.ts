/** The items in their order, in lists of at most `most`. */
export function* piecesOf<T>(items: readonly T[], most: number): Generator<T[]> {
  for (let from = 0; from < items.length; from += most) yield items.slice(from, from + most)
}
