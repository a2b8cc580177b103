/**
 * Messages that were handed over and are not recorded yet: after a kill they are sent again, so this is the most that
 * can go out twice.
 */
const MOST_OPEN = 6000

/** Places that were set aside for a slice and not taken yet. */
export type Reservation = { left: number }

/**
 * Counts messages from before they are handed over until their result is recorded. A slice reserves a place for each of
 * its messages before the first is handed over: a slice that ran out of places half-way would have to give the rest
 * back, and each message given back is leased and read once more.
 */
export class SubmissionWindow {
  readonly #most: number
  #open = 0
  #reserved = 0
  /** In the order in which they asked: a large slice is not passed over for ever by small ones. */
  readonly #waiting: { places: number; admit: () => void }[] = []

  constructor(most = MOST_OPEN) {
    this.#most = most
  }

  /** How many were handed over and are not recorded yet. */
  get open(): number {
    return this.#open
  }

  /** Resolves when there is room for so many more messages. */
  async reserve(places: number): Promise<Reservation> {
    const left = Math.min(places, this.#most)
    await new Promise<void>(admit => {
      this.#waiting.push({ places: left, admit })
      this.#admitWaiting()
    })
    return { left }
  }

  /** For codes, which wait for no other message: they do not stand in line, and may exceed the window. */
  reserveAtOnce(places: number): Reservation {
    this.#reserved += places
    return { left: places }
  }

  /** Takes a reserved place for one message; false when none is left. */
  enter(reservation: Reservation): boolean {
    if (reservation.left === 0) return false
    reservation.left -= 1
    this.#reserved -= 1
    this.#open += 1
    return true
  }

  /** Gives back the places of a reservation that were not taken. */
  cancel(reservation: Reservation): void {
    this.#reserved -= reservation.left
    reservation.left = 0
    this.#admitWaiting()
  }

  /** So many messages are recorded, or were not handed over after all. */
  leave(places: number): void {
    this.#open -= places
    if (places > 0) this.#admitWaiting()
  }

  #admitWaiting() {
    for (;;) {
      const next = this.#waiting[0]
      if (!next || this.#open + this.#reserved + next.places > this.#most) return
      this.#waiting.shift()
      this.#reserved += next.places
      next.admit()
    }
  }
}
