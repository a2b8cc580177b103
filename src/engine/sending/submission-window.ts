/**
 * The most messages that are submitted and not recorded. After a kill they are sent again, so at most this number is sent
 * twice.
 */
const MOST_OPEN = 6000

/** The places of a slice that are reserved and not used yet. */
export type Reservation = { left: number }

/**
 * Counts messages from before they are submitted until their result is recorded. A slice reserves a place for each of
 * its messages before the first is submitted. Without this, a slice could run out of places half-way and would have to
 * return the rest, and each returned message is leased and read once more.
 */
export class SubmissionWindow {
  readonly #most: number
  #open = 0
  #reserved = 0
  /** In the order of the requests, so that small slices do not delay a large slice for ever. */
  readonly #waiting: { places: number; admit: () => void }[] = []

  constructor(most = MOST_OPEN) {
    this.#most = most
  }

  /** The number of messages that are submitted and not recorded. */
  get open(): number {
    return this.#open
  }

  /** Resolves when the window has this number of free places. */
  async reserve(places: number): Promise<Reservation> {
    const left = Math.min(places, this.#most)
    await new Promise<void>(admit => {
      this.#waiting.push({ places: left, admit })
      this.#admitWaiting()
    })
    return { left }
  }

  /** For verification codes, which do not wait for other messages and may exceed the window. */
  reserveAtOnce(places: number): Reservation {
    this.#reserved += places
    return { left: places }
  }

  /** Uses a reserved place for one message. Returns false if none is left. */
  enter(reservation: Reservation): boolean {
    if (reservation.left === 0) return false
    reservation.left -= 1
    this.#reserved -= 1
    this.#open += 1
    return true
  }

  /** Returns the unused places of a reservation. */
  cancel(reservation: Reservation): void {
    this.#reserved -= reservation.left
    reservation.left = 0
    this.#admitWaiting()
  }

  /** Frees the places of messages that are recorded, or that were not submitted after all. */
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
