import type { Look } from '../api.ts'
import type { Words } from '../words.ts'
import { h, icon, setText } from './dom.ts'
import { variablesOf } from './look.ts'
import { lastTwo, masked } from './phone.ts'
import { type Actions, type Drawn, draw, type Screen, type Surroundings } from './screens.ts'

export type Theme = Look['theme']

interface Settings {
  words: Words
  /** Undefined uses the theme of the widget's settings. */
  theme: Theme | undefined
  /** The digits of the phone number. */
  destination: string
  styleUrl: string
  actions: Actions
}

/** The widget's shadow root: the frame, its current screen, the focus and the countdowns. */
export class View {
  readonly #host: HTMLElement
  readonly #frame: HTMLElement
  readonly #main = h('div', { class: 'main' })
  readonly #news = h('p', { class: 'sr', role: 'status' })
  readonly #around: Surroundings
  readonly #theme: Theme | undefined
  #look: Look | undefined
  readonly #stopped = new AbortController()
  readonly #ticks: ReturnType<typeof setInterval>
  #screen: Screen | undefined
  #drawn: Drawn | undefined
  /** True once the visitor uses the widget. Only then each new screen gets the focus. */
  #isInUse = false

  constructor(host: HTMLElement, { words, theme, destination, styleUrl, actions }: Settings) {
    this.#host = host
    this.#theme = theme
    this.#around = {
      words,
      actions,
      phone: () => drawPhone(words, destination),
      announce: text => setText(this.#news, text),
      typed: '',
    }
    this.#frame = drawFrame(words, destination, this.#main, this.#news)
    showWhenStyled(host, this.#frame, styleUrl)
    this.#followTheme()
    this.#followFocus()
    this.#ticks = setInterval(() => this.#screen && this.#drawn?.update(this.#screen), 250)
  }

  get theme(): 'light' | 'dark' {
    return this.#frame.dataset.theme as 'light' | 'dark'
  }

  setLook(look: Look) {
    this.#look = look
    for (const [name, value] of Object.entries(variablesOf(look)))
      if (value) this.#frame.style.setProperty(name, value)
      else this.#frame.style.removeProperty(name)
    this.#applyTheme()
  }

  show(screen: Screen) {
    const isSame = this.#screen && nameOf(this.#screen) === nameOf(screen)
    if (isSame) this.#drawn?.update(screen)
    else this.#change(screen)
    this.#screen = screen
  }

  announce(text: string) {
    this.#around.announce(text)
  }

  /** The first digits of the next input for a code. */
  setTyped(code: string) {
    this.#around.typed = code
  }

  stop() {
    this.#stopped.abort()
    clearInterval(this.#ticks)
    // The slot shows the page's own children of the element again.
    this.#host.shadowRoot?.replaceChildren(h('slot'))
  }

  #change(screen: Screen) {
    const isFallback = screen.kind === 'code' && this.#screen?.kind === 'code'
    this.#drawn = draw(screen, this.#around)
    this.#main.className = `main ${this.#drawn.shape ?? ''}`
    this.#main.replaceChildren(...this.#drawn.parts)
    setText(
      this.#news,
      isFallback
        ? this.#drawn.parts
            .slice(0, 2)
            .map(part => part.textContent)
            .join('. ')
        : '',
    )
    if (this.#isInUse) this.#drawn.focus?.focus()
  }

  #followTheme() {
    this.#applyTheme()
    dark.addEventListener('change', () => this.#applyTheme(), { signal: this.#stopped.signal })
  }

  #applyTheme() {
    const theme = this.#theme ?? this.#look?.theme ?? 'auto'
    this.#frame.dataset.theme = theme === 'auto' ? (dark.matches ? 'dark' : 'light') : theme
  }

  #followFocus() {
    for (const event of ['pointerdown', 'focusin'])
      document.addEventListener(
        event,
        ({ target }) => {
          this.#isInUse = target === this.#host
        },
        { signal: this.#stopped.signal, capture: true },
      )
  }
}

const dark = matchMedia('(prefers-color-scheme: dark)')

/** A screen with the name of the current screen updates it. Other screens are drawn again. */
function nameOf(screen: Screen): string {
  if (screen.kind === 'start') return `start ${screen.way} ${screen.robot.kind}`
  if (screen.kind === 'code') return `code ${screen.way} ${screen.length}`
  return screen.kind === 'note' ? JSON.stringify(screen, withoutTimes) : screen.kind
}

const withoutTimes = (name: string, value: unknown) => (name === 'until' ? undefined : value)

/** The phone number is part of the name, because a page may have two widgets. */
function drawFrame(words: Words, digits: string, main: HTMLElement, news: HTMLElement): HTMLElement {
  const foot = h('p', { class: 'foot' }, icon('lock'), words.of('foot'))
  const label = `${words.of('label')}, ${words.of('phone', { last2: lastTwo(digits) })}`
  return h('section', { class: 'frame', lang: words.lang, 'aria-label': label }, main, foot, news)
}

/** Shows the widget also if the style sheet does not load. */
function showWhenStyled(host: HTMLElement, frame: HTMLElement, styleUrl: string) {
  const style = h('link', { rel: 'stylesheet', href: styleUrl })
  const show = () => frame.style.removeProperty('visibility')
  frame.style.setProperty('visibility', 'hidden')
  frame.style.setProperty('min-height', '360px')
  style.addEventListener('load', show)
  style.addEventListener('error', show)
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  root.replaceChildren(style, frame)
}

const drawPhone = (words: Words, digits: string) =>
  h(
    'span',
    { class: 'phone' },
    h('span', { 'aria-hidden': 'true' }, masked(digits)),
    h('span', { class: 'sr' }, words.of('phone', { last2: lastTwo(digits) })),
  )
