/**
 * Messages that were handed over and are not recorded yet: after a kill they are sent again, so this is the most that
 * can go out twice.
 */
const MOST_OPEN = 6000

/** Places that were set aside for a slice and not taken yet. */
export type Reservation = { left: number }

/**
 * Counts messages from before they are handed over until their result is recorded. A slice reserves as many places as
 * its channel can have open at once, so that a gateway that does not answer keeps no more than these from the others.
 */
export class SubmissionWindow {
  readonly #most: number
  #open = 0
  #reserved = 0
  #waiting: (() => void)[] = []

  constructor(most = MOST_OPEN) {
    this.#most = most
  }

  /** Resolves when there is room for so many more messages. */
  async reserve(places: number): Promise<Reservation> {
    const left = Math.min(places, this.#most)
    while (this.#open + this.#reserved + left > this.#most) {
      await new Promise<void>(resolve => this.#waiting.push(resolve))
    }
    this.#reserved += left
    return { left }
  }

  /** Takes a place for one message; false when there is none. */
  enter(reservation: Reservation): boolean {
    if (reservation.left > 0) {
      reservation.left -= 1
      this.#reserved -= 1
    } else if (this.#open + this.#reserved >= this.#most) return false
    this.#open += 1
    return true
  }

  /** Takes a place without asking: codes wait for nobody. */
  push(): void {
    this.#open += 1
  }

  /** Gives back the places of a reservation that were not taken. */
  cancel(reservation: Reservation): void {
    this.#reserved -= reservation.left
    reservation.left = 0
    this.#wake()
  }

  /** So many messages are recorded, or were not handed over after all. */
  leave(places: number): void {
    this.#open -= places
    if (places > 0) this.#wake()
  }

  #wake() {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
