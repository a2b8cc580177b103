/** First in, first out. What has left is cut off now and then, so that a million that wait cost nothing to move. */
export function createQueue<T>() {
  let items: (T | undefined)[] = []
  let head = 0

  function cutOff() {
    items = items.slice(head)
    head = 0
  }

  return {
    get size() {
      return items.length - head
    },
    push(item: T) {
      items.push(item)
    },
    /** The one that has been here longest; it stays. */
    first: (): T | undefined => items[head],
    shift(): T | undefined {
      if (head === items.length) return undefined
      const item = items[head]
      items[head++] = undefined
      if (head >= CUT_OFF_FROM && head * 2 >= items.length) cutOff()
      return item
    },
  }
}

export type Queue<T> = ReturnType<typeof createQueue<T>>

const CUT_OFF_FROM = 1000
