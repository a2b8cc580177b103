import { h, setAttribute, setText } from './dom.ts'

interface Settings {
  length: number
  label: string
  describedBy: string
  onComplete(): void
  onEdit(): void
}

/**
 * One real input lies over drawn cells, so that autofill, paste and screen readers find an ordinary field. It has no
 * `maxlength`, so that the visitor can paste "123 456". The input keeps only the digits.
 */
export class CodeInput {
  readonly node: HTMLElement
  readonly #input: HTMLInputElement
  readonly #cells: HTMLElement[]
  readonly #settings: Settings
  #isWrong = false

  constructor(settings: Settings) {
    this.#settings = settings
    this.#input = h('input', {
      class: 'input',
      inputmode: 'numeric',
      autocomplete: 'one-time-code',
      autocapitalize: 'off',
      spellcheck: 'false',
      'aria-label': settings.label,
      'aria-describedby': settings.describedBy,
    })
    this.#cells = Array.from({ length: settings.length }, () => h('i'))
    const cells = h('span', { class: 'cells', 'aria-hidden': 'true' }, ...this.#cells)
    this.node = h('div', { class: 'code', 'data-n': settings.length }, this.#input, cells)
    this.#input.addEventListener('input', () => this.#edit())
    this.#input.addEventListener('pointerup', () => this.#placeCaret())
    for (const event of ['focus', 'keyup', 'select']) this.#input.addEventListener(event, () => this.#paint())
  }

  get value() {
    return this.#input.value
  }

  set value(value: string) {
    this.#input.value = value.replace(/\D/g, '').slice(0, this.#settings.length)
    this.#paint()
  }

  get isComplete() {
    return this.value.length === this.#settings.length
  }

  setBusy(isBusy: boolean) {
    this.#input.readOnly = isBusy
    this.node.classList.toggle('is-busy', isBusy)
  }

  /** Selects the digits of a wrong code, so that the next key replaces them. */
  setWrong(isWrong: boolean) {
    this.#isWrong = isWrong
    this.node.classList.toggle('is-wrong', isWrong)
    setAttribute(this.#input, 'aria-invalid', isWrong && 'true')
    if (isWrong) this.#input.select()
    this.#paint()
  }

  get focusable() {
    return this.#input
  }

  #edit() {
    this.setWrong(false)
    const caret = this.#input.selectionStart ?? 0
    const typed = this.#input.value
    this.value = typed
    // Removing the other characters moved the caret. Put it back behind the same digit.
    if (this.value !== typed) {
      const digitsBefore = typed.slice(0, caret).replace(/\D/g, '').length
      this.#input.setSelectionRange(digitsBefore, digitsBefore)
    }
    this.#paint()
    this.#settings.onEdit()
    if (this.isComplete) this.#settings.onComplete()
  }

  /** The input's text is not at the place of the cells. A click therefore moves to the end, or selects a wrong code. */
  #placeCaret() {
    if (this.#isWrong) this.#input.select()
    else this.#input.setSelectionRange(this.value.length, this.value.length)
    this.#paint()
  }

  #paint() {
    const { value, selectionStart, selectionEnd } = this.#input
    const isAllSelected = value !== '' && selectionStart === 0 && selectionEnd === value.length
    const here = Math.min(selectionStart ?? value.length, this.#cells.length - 1)
    for (const [i, cell] of this.#cells.entries()) {
      setText(cell, value[i] ?? '')
      cell.classList.toggle('is-here', isAllSelected ? !this.#isWrong && i < value.length : i === here)
    }
  }
}
