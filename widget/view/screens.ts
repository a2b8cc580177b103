import type { Channel } from '../api.ts'
import { clock, type Word, type Words } from '../words.ts'
import { CodeInput } from './code-input.ts'
import { button, h, type Icon, icon, setAttribute, setText } from './dom.ts'
import type { Note } from './notes.ts'

/** The progress of the captcha. */
export type Robot =
  | { kind: 'proof'; share: number; hasPassed: boolean }
  | { kind: 'provider'; hasPassed: boolean }
  | { kind: 'none' }

export interface Start {
  kind: 'start'
  way: Channel
  robot: Robot
  isBusy: boolean
  hasOtherWays: boolean
}

export type CodeMessage = { kind: 'wrong'; triesLeft: number } | { kind: 'offline' }

export interface Code {
  kind: 'code'
  way: Channel
  length: number
  message: CodeMessage | undefined
  isBusy: boolean
  /** When the code may be sent again, in milliseconds since 1970. */
  resendAt: number
  hasOtherWays: boolean
}

export interface Ways {
  kind: 'ways'
  ways: Channel[]
  /** When another code may be sent, in milliseconds since 1970. */
  until: number
}

export type Screen = { kind: 'loading' } | Start | Code | Ways | Note

/** The actions of the visitor. */
export interface Actions {
  send(): void
  choose(): void
  back(): void
  pick(way: Channel): void
  /** The visitor changes the digits, so that the message about them no longer applies. */
  edit(): void
  check(code: string): void
  again(): void
  retry(): void
}

export interface Surroundings {
  words: Words
  actions: Actions
  /** Draws the masked number. */
  phone(): Node
  announce(text: string): void
  /** Digits that the visitor typed before opening the list of channels. */
  typed: string
}

/** A screen in the page. `update` runs at every change and once a second, and changes only the parts that differ. */
export interface Drawn<Of extends Screen = Screen> {
  /** A class for the style sheet. */
  shape?: string
  parts: Node[]
  focus?: HTMLElement
  update(screen: Of): void
}

export function draw(screen: Screen, around: Surroundings): Drawn {
  const drawn = drawKind(screen, around) as Drawn
  drawn.update(screen)
  return drawn
}

function drawKind(screen: Screen, around: Surroundings) {
  if (screen.kind === 'start') return drawStart(screen, around)
  if (screen.kind === 'code') return drawCode(screen, around)
  if (screen.kind === 'ways') return drawWays(screen, around)
  return screen.kind === 'note' ? drawNote(screen, around) : drawLoading(around)
}

function drawLoading({ words }: Surroundings): Drawn {
  const bones = ['title', 'line', 'line is-short', 'number', 'button', 'row'].map(name =>
    h('span', { class: `bone ${name}` }),
  )
  return { parts: [h('p', { role: 'status', class: 'sr' }, words.of('loading')), ...bones], update() {} }
}

// Before sending ----------------------------------------------------------------------------------------------------

function drawStart({ way, robot, hasOtherWays }: Start, around: Surroundings): Drawn<Start> {
  const { words, actions } = around
  const isProvider = robot.kind === 'provider'
  const title = drawTitle(words.of('start.title'))
  const text = h('p', { class: 'text' })
  text.append(...withPhone(words.of(forWay(way, isProvider ? 'start.to' : 'start.text')), around))
  const bar = h('span', { class: 'bar' })
  const number = h('p', { class: 'number' }, icon('phone'), around.phone(), bar)
  const message = new Message()
  const send = new BusyButton(actions.send)
  const by = isCall(way) ? words.of('start.by.call') : words.of('start.by', { way: nameOf(words, way) })
  const ways = button('link', actions.choose, words.of('ways'))
  const row = h('div', { class: 'row' }, h('span', {}, by), ...(hasOtherWays ? [ways] : []))
  const captcha = h('div', { class: 'captcha' }, h('slot', { name: 'captcha' }))

  return {
    parts: [title, text, ...(isProvider ? [captcha] : [number, message.node]), send.node, row],
    focus: title,
    update({ robot, isBusy }) {
      send.show(isBusy ? progressWord(words, way) : words.of(isCall(way) ? 'start.call' : 'start.send'), isBusy)
      send.node.disabled = robot.kind === 'provider' && !robot.hasPassed && !isBusy
      ways.disabled = isBusy
      if (robot.kind !== 'proof') bar.hidden = true
      else showProof(robot)
    },
  }

  function showProof({ share, hasPassed }: { share: number; hasPassed: boolean }) {
    bar.hidden = hasPassed
    bar.style.setProperty('--done', share.toFixed(3))
    if (hasPassed) message.show({ text: words.of('captcha.done'), icon: 'check', tone: 'good' })
    else message.show({ text: words.of('captcha.running') })
  }
}

// The code ----------------------------------------------------------------------------------------------------------

function drawCode({ way, length, hasOtherWays }: Code, around: Surroundings): Drawn<Code> {
  const { words, actions } = around
  const text = h('p', { class: 'text', id: 'text' }, ...withPhone(words.of(codeText(way)), around))
  const message = new Message()
  const input = new CodeInput({
    length,
    label: way === 'FLASHCALL' ? words.of('flash.input') : words.count('code.input', length),
    describedBy: 'text',
    onComplete: confirm,
    onEdit() {
      around.typed = input.value
      actions.edit()
      showHint()
    },
  })
  const submit = new BusyButton(confirm)
  const again = button('link', actions.again)
  const ways = button('link', actions.choose, words.of('ways'))
  let shown: CodeMessage | undefined
  input.value = around.typed
  showHint()
  input.focusable.addEventListener('keydown', event => event.key === 'Enter' && confirm())

  return {
    parts: [
      drawTitle(words.of(codeTitle(way))),
      text,
      input.node,
      message.node,
      submit.node,
      h('div', { class: 'row' }, again, ...(hasOtherWays ? [ways] : [])),
    ],
    focus: input.focusable,
    update(screen) {
      submit.show(words.of(screen.isBusy ? 'checking' : 'code.confirm'), screen.isBusy)
      input.setBusy(screen.isBusy)
      ways.disabled = screen.isBusy
      const wait = secondsUntil(screen.resendAt)
      setText(again, waitOr(words, forWay(way, 'again'), isCall(way) ? 'again.call.wait' : 'again.wait', wait))
      again.disabled = wait > 0 || screen.isBusy
      if (screen.message !== shown) showMessage(screen.message)
    },
  }

  function confirm() {
    if (input.isComplete) return actions.check(input.value)
    message.show({ text: words.count('code.short', length), icon: 'alert', tone: 'bad' })
    input.focusable.focus()
  }

  function showHint() {
    message.show(shownMessage(words, way, undefined))
  }

  function showMessage(next: CodeMessage | undefined) {
    shown = next
    input.setWrong(next?.kind === 'wrong')
    message.show(shownMessage(words, way, next))
  }
}

/** Without a message, the screen of a flash call shows an example. */
function shownMessage(words: Words, way: Channel, message: CodeMessage | undefined): Saying | undefined {
  const isFlash = way === 'FLASHCALL'
  if (!message) return isFlash ? { text: words.of('flash.example') } : undefined
  if (message.kind === 'offline') return { text: words.of('offline.code'), icon: 'offline' }
  return { text: words.count(isFlash ? 'wrong.flash' : 'wrong', message.triesLeft), icon: 'alert', tone: 'bad' }
}

function codeTitle(way: Channel): Word {
  if (way === 'FLASHCALL') return 'flash.title'
  return way === 'VOICECODE' ? 'voice.title' : 'code.title'
}

function codeText(way: Channel): Word {
  if (way === 'FLASHCALL') return 'flash.text'
  if (way === 'VOICECODE') return 'voice.text'
  return `code.${shownAs(way)}` as Word
}

// Choosing a channel ------------------------------------------------------------------------------------------------

function drawWays({ ways }: Ways, { words, actions }: Surroundings): Drawn<Ways> {
  const title = drawTitle(words.of('ways.title'))
  const back = button('back', actions.back, icon('back'))
  back.setAttribute('aria-label', words.of('ways.back'))
  const rows = ways.map(way => {
    const hint = h('small')
    const pick = () => actions.pick(way)
    return { way, hint, button: button('way', pick, icon(shownAs(way)), nameOf(words, way), hint, icon('next')) }
  })

  return {
    shape: ways.length > 5 ? 'is-long' : '',
    parts: [
      h('div', { class: 'head' }, back, title),
      h('ul', { class: 'ways', role: 'list' }, ...rows.map(({ button }) => h('li', {}, button))),
    ],
    focus: title,
    update({ until }) {
      const wait = secondsUntil(until)
      for (const { way, hint, button } of rows) {
        button.disabled = wait > 0
        setText(hint, wait > 0 ? words.of('way.wait', { time: clock(wait) }) : hintOf(words, way))
      }
    },
  }
}

const hintOf = (words: Words, way: Channel) =>
  way === 'FLASHCALL' || way === 'VOICECODE' ? words.of(`way.${way}.hint`) : ''

// Notes -------------------------------------------------------------------------------------------------------------

function drawNote(note: Note, around: Surroundings): Drawn<Note> {
  const { words, actions } = around
  const title = drawTitle(note.title)
  const text = h('p', { class: 'text' }, ...withPhone(note.text, around))
  const number = note.code ? [h('p', { class: 'error' }, words.of('error', { code: note.code }))] : []
  const sign = h('span', { class: `sign${note.tone ? ` is-${note.tone}` : ''}` }, icon(note.icon))
  const { button: wanted } = note
  const act = button(`button${wanted?.isSecond ? ' is-second' : ''}`, () => wanted && actions[wanted.act]())
  const back = button('link', actions.back, words.of('ways.back'))

  return {
    shape: note.hasBack ? 'has-back' : '',
    parts: [
      h('div', { class: 'note', role: note.tone === 'good' ? 'status' : 'alert' }, sign, title, text, ...number),
      ...(wanted ? [act] : []),
      ...(note.hasBack ? [h('div', { class: 'row' }, back)] : []),
    ],
    focus: title,
    update({ button }) {
      if (!button) return
      const wait = button.waitWord ? secondsUntil(button.until ?? 0) : 0
      setText(act, waitOr(words, button.word, button.waitWord ?? button.word, wait))
      act.disabled = wait > 0
    },
  }
}

// Parts -------------------------------------------------------------------------------------------------------------

const drawTitle = (text: string) => h('h2', { class: 'title', tabindex: -1 }, text)

/** Puts the masked number into the text. At the end of a text it gets its own line, except in the long text. */
function withPhone(text: string, { phone, words }: Surroundings): Node[] {
  const isInline = text === words.of('flash.text')
  return text.split(/(\s*\{number\}|\n)/).flatMap((piece, i): Node[] => {
    if (piece === '\n') return [h('br')]
    if (!piece.endsWith('{number}')) return piece ? [document.createTextNode(piece)] : []
    return [
      ...(i === 1 && text.startsWith('{number}') ? [] : [isInline ? document.createTextNode(' ') : h('br')]),
      phone(),
    ]
  })
}

const isCall = (way: Channel) => way === 'FLASHCALL' || way === 'VOICECODE'

/** The visitor sees both channels of Telegram as one. */
export const shownAs = (way: Channel) => (way === 'TELEGRAM_GATEWAY' ? 'TELEGRAM' : way)

const nameOf = (words: Words, way: Channel) => words.of(`way.${shownAs(way)}`)
const forWay = (way: Channel, word: 'start.to' | 'start.text' | 'again'): Word => (isCall(way) ? `${word}.call` : word)
export const progressWord = (words: Words, way: Channel) => words.of(isCall(way) ? 'calling' : 'sending')

const secondsUntil = (until: number) => Math.max(0, Math.ceil((until - Date.now()) / 1000))

const waitOr = (words: Words, word: Word, waitWord: Word, wait: number) =>
  wait > 0 ? words.of(waitWord, { time: clock(wait) }) : words.of(word)

/** A busy button is not disabled, because a disabled button loses the focus. */
class BusyButton {
  readonly node: HTMLButtonElement
  #isBusy = false

  constructor(onClick: () => void) {
    this.node = button('button', () => this.#isBusy || onClick())
  }

  show(label: string, isBusy: boolean) {
    if (this.node.textContent === label && this.#isBusy === isBusy) return
    this.#isBusy = isBusy
    setAttribute(this.node, 'aria-busy', isBusy && 'true')
    setAttribute(this.node, 'aria-disabled', isBusy && 'true')
    this.node.replaceChildren(...(isBusy ? [h('span', { class: 'spin' })] : []), label)
  }
}

interface Saying {
  text: string
  icon?: Icon
  tone?: 'bad' | 'good'
}

/** The line below the code. An error message is an alert, which screen readers read when it appears. */
class Message {
  readonly node = h('div', { class: 'message' })
  readonly #status = h('p', { role: 'status' })
  #text = ''

  constructor() {
    this.node.append(this.#status)
  }

  show(saying: Saying | undefined) {
    if (this.#text === (saying?.text ?? '')) return
    this.#text = saying?.text ?? ''
    const isAlert = saying?.tone === 'bad'
    const line = isAlert ? h('p', { role: 'alert' }) : this.#status
    this.#status.replaceChildren()
    line.className = saying?.tone ? `is-${saying.tone}` : ''
    line.append(...(saying?.icon ? [icon(saying.icon)] : []), h('span', {}, ...withBold(this.#text)))
    this.node.replaceChildren(this.#status, ...(isAlert ? [line] : []))
  }
}

const withBold = (text: string) => text.split('**').map((piece, i) => (i % 2 ? h('b', {}, piece) : piece))
