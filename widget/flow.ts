import {
  type Captcha,
  type Channel,
  Offline,
  type Opened,
  type Service,
  type Session,
  type State,
  WidgetError,
} from './api.ts'
import { ProofOfWork } from './captcha/proof-of-work.ts'
import { Provider } from './captcha/provider.ts'
import type { Memory } from './memory.ts'
import { readCodeFromSms } from './one-time-code.ts'
import { doneNote, errorNote, offlineNote, overNote } from './view/notes.ts'
import { type Actions, type CodeMessage, progressWord, type Robot, type Screen, shownAs } from './view/screens.ts'
import type { View } from './view/view.ts'
import type { OnSuccess, SendAuthKey } from './widget.d.ts'
import type { Words } from './words.ts'

const WAITING_POLL_MS = 1_000
const SENT_POLL_MS = 3_000

/** For widgets without a captcha, and for sessions that exist already. */
const noRobotCheck = { kind: 'none' as const, token: async () => undefined, stop() {} }

interface Settings {
  host: HTMLElement
  destination: string
  captchaSiteKey: string | undefined
  sendAuthKey: SendAuthKey | undefined
  onSuccess: OnSuccess | undefined
  words: Words
  api: Service
  memory: Pick<Memory, 'read' | 'write'>
}

/** Waits for a promise of an action. If another action begins meanwhile, the returned promise never settles. */
type Wait = <T>(promise: Promise<T>) => Promise<T>

/**
 * The steps of a verification: open, pass the captcha, create a session, let the site's server send the code, check the
 * code that the visitor types. Each action of the visitor ends the previous action, so that late answers change
 * nothing.
 */
export class Flow {
  readonly #settings: Settings
  readonly #api: Service
  #view!: View
  #opened: Opened | undefined
  #robot: ProofOfWork | Provider | typeof noRobotCheck = noRobotCheck
  #session: Session | undefined
  #state: State | undefined
  /** When another code may be sent, in milliseconds since 1970. */
  #resendAt = 0
  #way: Channel | undefined
  #message: CodeMessage | undefined
  /** The screen that the list of channels covers. */
  #under: Screen | undefined
  #shown: Screen = { kind: 'loading' }
  #retry: (() => void) | undefined
  #turn = 0
  #poll: ReturnType<typeof setTimeout> | undefined
  #codeFromSms: AbortController | undefined
  #isSending = false
  #isConfirmed = false
  #formField: HTMLInputElement | undefined

  readonly actions: Actions = {
    send: () => this.#send(),
    choose: () => this.#choose(),
    back: () => this.#back(),
    pick: way => this.#pick(way),
    edit: () => this.#edit(),
    check: code => this.#check(code),
    again: () => this.#again(this.#sessionState.channelType),
    retry: () => this.#retry?.(),
  }

  constructor(settings: Settings) {
    this.#settings = settings
    this.#api = settings.api
  }

  start(view: View) {
    this.#view = view
    addEventListener('online', this.#onOnline)
    this.#begin()
  }

  get #activeSession(): Session {
    if (!this.#session) throw new Error('The widget has no session')
    return this.#session
  }

  get #chosenWay(): Channel {
    if (!this.#way) throw new Error('The widget has no channel')
    return this.#way
  }

  get #sessionState(): State {
    if (!this.#state) throw new Error('The widget does not know the state of its session')
    return this.#state
  }

  /** Shows an error of the page's options. Sends no request. */
  startWithError(view: View, code: number) {
    this.#view = view
    this.#showError(new WidgetError({ code }))
  }

  stop() {
    this.#turn++
    clearTimeout(this.#poll)
    removeEventListener('online', this.#onOnline)
    this.#codeFromSms?.abort()
    this.#robot.stop()
    this.#formField?.remove()
  }

  #onOnline = () => {
    const isOffline =
      this.#message?.kind === 'offline' || (this.#shown.kind === 'note' && this.#shown.icon === 'offline')
    if (isOffline) this.#retry?.()
  }

  // Beginning -------------------------------------------------------------------------------------------------------

  #begin() {
    this.#act(async wait => {
      this.#show({ kind: 'loading' })
      const remembered = this.#settings.memory.read()
      const [opened, state] = await wait(Promise.all([this.#api.open(), remembered && this.#stateOf(remembered)]))
      this.#opened = opened
      if (opened.look) this.#view.setLook(opened.look)
      if (remembered && state) await this.#resume(remembered, state, wait)
      else this.#prepare(opened)
    })
  }

  /** Undefined if the session has ended. */
  #stateOf(session: Session): Promise<State | undefined> {
    return this.#api.state(session).catch(error => {
      if (isOver(error)) return undefined
      throw error
    })
  }

  async #resume(session: Session, state: State, wait: Wait) {
    this.#session = session
    if (state.state === 'WAITING') await this.#deliver(state, wait)
    else this.#follow(state)
  }

  #prepare({ captcha }: Opened) {
    this.#forget()
    this.#way ??= this.#ways[0]
    this.#robot.stop()
    this.#robot = this.#robotCheck(captcha)
    this.#showStart(false)
  }

  #robotCheck(captcha: Captcha) {
    const { host, captchaSiteKey, words } = this.#settings
    const onChange = () => this.#shown.kind === 'start' && this.#showStart(this.#isSending)
    if (captcha.kind === 'none') return noRobotCheck
    if (captcha.kind === 'altcha') return new ProofOfWork(captcha.challenge, () => this.#newChallenge(), onChange)
    const settings = {
      ...captcha,
      siteKey: captchaSiteKey || captcha.siteKey,
      theme: this.#view.theme,
      lang: words.lang,
    }
    return new Provider(host, settings, onChange, reason => this.#failCaptcha(reason))
  }

  async #newChallenge() {
    const { captcha } = await this.#api.open()
    if (captcha.kind !== 'altcha') throw new WidgetError({ code: 340 }) // the settings have changed
    return captcha.challenge
  }

  #failCaptcha(reason: string) {
    this.#robot.stop()
    if (this.#session) return
    this.#api.report(341, reason)
    this.#fail(new WidgetError({ code: 341 }))
  }

  // Sending ---------------------------------------------------------------------------------------------------------

  #send() {
    if (this.#robot.kind === 'provider' && !this.#robot.hasPassed) return this.#showStart(false)
    this.#act(async wait => {
      this.#showStart(true)
      const captcha = await wait(this.#robot.token())
      const request = { destination: this.#settings.destination, channelType: this.#chosenWay, captcha }
      const { key, secret, ...state } = await wait(this.#api.createSession(request))
      this.#session = { key, secret }
      this.#settings.memory.write(this.#session)
      this.#robot.stop()
      await this.#deliver(state, wait)
    })
  }

  #again(way: Channel) {
    this.#act(async wait => {
      this.#showSending(way)
      this.#message = undefined
      await this.#deliver(await wait(this.#api.again(this.#activeSession, way)), wait)
    })
  }

  /**
   * Lets the site's server send the code. The widget polls the service meanwhile, which may know the result earlier.
   */
  async #deliver(state: State, wait: Wait) {
    this.#view.setTyped('')
    this.#readCodeFromSms(state.channelType)
    this.#follow(state)
    try {
      await wait(this.#handOver())
    } catch (error) {
      if (error instanceof WidgetError || error instanceof Offline) throw error
      await this.#judgeFailure(error, wait)
    }
    this.#follow(await wait(this.#api.state(this.#activeSession)))
  }

  /** The site's server calls the service with the key. On a page of a site builder the widget calls it. */
  async #handOver() {
    const { sendAuthKey } = this.#settings
    if (!sendAuthKey) return void (await this.#api.deliver(this.#activeSession))
    const answer = await sendAuthKey(this.#activeSession.key)
    if (answer instanceof Response && !answer.ok) throw new Error(`The site's server answered ${answer.status}`)
  }

  /** Prefers the error that the service knows to the error of the site's function, because it says more. */
  async #judgeFailure(error: unknown, wait: Wait) {
    const state = await wait(this.#api.state(this.#activeSession))
    if (state.state !== 'WAITING') return
    console.error('VerifyWidget: sendAuthKey failed:', error)
    this.#api.report(350, String(error), this.#activeSession.key)
    throw new WidgetError({ code: 350 })
  }

  #readCodeFromSms(way: Channel) {
    this.#codeFromSms?.abort()
    if (way !== 'SMS') return
    this.#codeFromSms = new AbortController()
    readCodeFromSms(this.#codeFromSms.signal)
      ?.then(code => {
        this.#view.setTyped(code)
        if (this.#state?.state === 'SENT') this.#check(code)
      })
      .catch(() => {})
  }

  // Following the service -------------------------------------------------------------------------------------------

  /** Shows the state of the session, and polls for the next state while it can change. */
  #follow(state: State) {
    if (state.channelType !== this.#state?.channelType) this.#changeWay(state.channelType)
    this.#state = state
    this.#resendAt = steady(this.#resendAt, state.secondsToResend)
    if (state.state === 'CONFIRMED') return this.#succeed(state)
    if (state.state === 'FAILED') throw new WidgetError(state.error ?? { code: 5000 })
    if (state.state === 'WAITING') this.#showSending(state.channelType)
    else this.#showSent(state)
    this.#pollIn(state.state === 'WAITING' ? WAITING_POLL_MS : SENT_POLL_MS)
  }

  /** The service fell back to the next channel, which has a code of its own. */
  #changeWay(way: Channel) {
    this.#message = undefined
    this.#view.setTyped('')
    this.#readCodeFromSms(way)
  }

  #pollIn(ms: number) {
    clearTimeout(this.#poll)
    const turn = this.#turn
    this.#poll = setTimeout(async () => {
      if (document.hidden && this.#state?.state === 'SENT') return this.#pollIn(ms)
      try {
        const state = await this.#api.state(this.#activeSession)
        if (turn !== this.#turn) return
        if (this.#message?.kind === 'offline') this.#retry?.()
        else this.#follow(state)
      } catch (error) {
        if (turn !== this.#turn) return
        if (this.#state?.state === 'SENT' && isPassing(error)) this.#pollIn(ms)
        else this.#fail(error, () => this.#retrySession())
      }
    }, ms)
  }

  #succeed({ result }: State) {
    this.#end()
    this.#codeFromSms?.abort()
    this.#show(doneNote(this.#settings.words))
    if (this.#isConfirmed) return
    this.#isConfirmed = true
    if (result) this.#formField = putIntoForm(this.#settings.host, result)
    try {
      this.#settings.onSuccess?.(this.#activeSession.key, result)
    } catch (error) {
      console.error('VerifyWidget: onSuccess failed:', error)
    }
  }

  // Checking --------------------------------------------------------------------------------------------------------

  #check(code: string) {
    this.#act(async wait => {
      this.#showCode(this.#sessionState, true)
      this.#view.announce(this.#settings.words.of('checking'))
      try {
        const { status, ...state } = await wait(this.#api.check(this.#activeSession, code))
        this.#message = status === 'WRONG_CODE' ? { kind: 'wrong', triesLeft: state.triesLeft } : undefined
        this.#follow(status === 'EXPIRED' && state.triesLeft > 0 ? { ...state, secondsToExpire: 0 } : state)
      } catch (error) {
        if (!(error instanceof Offline)) throw error
        this.#message = { kind: 'offline' }
        this.#retry = () => this.#check(code)
        this.#showCode(this.#sessionState, false)
        this.#pollIn(SENT_POLL_MS)
      }
    })
  }

  #edit() {
    if (!this.#message) return
    this.#message = undefined
    this.#retry = undefined
    this.#showCode(this.#sessionState, false)
  }

  // Choosing a channel ----------------------------------------------------------------------------------------------

  /** The channels of the list. Two channels lead to Telegram: the list shows only the first. */
  get #ways(): Channel[] {
    const ways = this.#opened?.channels ?? []
    return ways.filter((way, i) => ways.findIndex(other => shownAs(other) === shownAs(way)) === i)
  }

  #choose() {
    this.#under = this.#shown
    this.#view.show(this.#listOfWays())
  }

  #listOfWays(): Screen {
    return { kind: 'ways', ways: this.#ways, until: this.#resendAt }
  }

  #back() {
    const under = this.#under
    this.#under = undefined
    if (under) this.#show(under)
    else this.#retrySession()
  }

  #pick(way: Channel) {
    this.#under = undefined
    this.#way = way
    if (this.#session) this.#again(way)
    else this.#showStart(false)
  }

  // Showing ---------------------------------------------------------------------------------------------------------

  /** The list of channels stays open while the screen below it changes, but closes when that screen is over. */
  #show(screen: Screen) {
    this.#shown = screen
    const staysUnder = this.#under && (screen.kind === 'code' || (screen.kind === 'start' && !screen.isBusy))
    this.#under = staysUnder ? screen : undefined
    this.#view.show(staysUnder ? this.#listOfWays() : screen)
  }

  #showStart(isBusy: boolean, way = this.#chosenWay, robot: Robot = this.#robot) {
    this.#isSending = isBusy
    this.#show({ kind: 'start', way, robot, isBusy, hasOtherWays: this.#hasOtherWays })
    if (isBusy) this.#view.announce(progressWord(this.#settings.words, way))
  }

  #showSending(way: Channel) {
    const first = this.#shown.kind === 'start' && this.#shown.isBusy ? this.#shown : undefined
    this.#showStart(true, way, first?.robot ?? noRobotCheck)
  }

  #showSent(state: State) {
    const { words } = this.#settings
    if (state.triesLeft <= 0) return this.#show(overNote(words, 'tries', this.#resendAt))
    if (state.secondsToExpire <= 0) return this.#show(overNote(words, 'expired', this.#resendAt))
    this.#showCode(state, false)
  }

  #showCode({ channelType: way, codeLength: length }: State, isBusy: boolean) {
    const shown = { message: this.#message, resendAt: this.#resendAt, hasOtherWays: this.#hasOtherWays }
    this.#show({ kind: 'code', way, length, isBusy, ...shown })
  }

  get #hasOtherWays() {
    return this.#ways.length > 1
  }

  // Actions and failures --------------------------------------------------------------------------------------------

  /** Runs an action of the visitor. The previous action stops at its next `wait`. */
  async #act(action: (wait: Wait) => Promise<void>) {
    this.#end()
    const turn = this.#turn
    const wait: Wait = promise =>
      new Promise((resolve, reject) => {
        promise.then(
          value => turn === this.#turn && resolve(value),
          error => turn === this.#turn && reject(error),
        )
      })
    try {
      await action(wait)
    } catch (error) {
      if (turn === this.#turn) this.#fail(error, () => this.#act(action))
    }
  }

  #end() {
    this.#turn++
    clearTimeout(this.#poll)
    this.#retry = undefined
  }

  #fail(error: unknown, repeat = () => this.#begin()) {
    this.#end()
    this.#isSending = false
    const { words } = this.#settings
    if (error instanceof Offline) {
      this.#retry = repeat
      return this.#show(offlineNote(words))
    }
    if (isOver(error) && this.#session) {
      this.#forget()
      return this.#begin()
    }
    const known = error instanceof WidgetError ? error : new WidgetError({ code: 5000 })
    if (known !== error) console.error('VerifyWidget:', error)
    if (known.code === 310) console.error(`VerifyWidget: error 310. ${adviceFor310()}`)
    this.#showError(known)
  }

  #forget() {
    this.#settings.memory.write(undefined)
    this.#session = undefined
    this.#state = undefined
    this.#resendAt = 0
  }

  #showError({ code, retryAfterSeconds }: WidgetError) {
    const until = inSeconds(retryAfterSeconds)
    const hasBack = this.#state?.state === 'SENT'
    const hasOtherWays = this.#hasOtherWays
    this.#retry = () => (this.#session ? this.#retrySession() : this.#begin())
    this.#show(errorNote(this.#settings.words, { code, until, hasOtherWays, hasBack }))
  }

  /** Continues the session from its state. If the code was not sent, requests it again. */
  #retrySession() {
    this.#act(async wait => {
      this.#show({ kind: 'loading' })
      const state = await wait(this.#api.state(this.#activeSession))
      if (state.state === 'FAILED') this.#again(state.channelType)
      else await this.#resume(this.#activeSession, state, wait)
    })
  }
}

const inSeconds = (seconds: number) => Date.now() + seconds * 1000

/**
 * Keeps the previous moment if the new one differs by less than two seconds, so that the countdown does not jump. The
 * service rounds to whole seconds.
 */
function steady(before: number, seconds: number): number {
  if (seconds <= 0) return 0
  const now = inSeconds(seconds)
  return Math.abs(now - before) < 2_000 ? before : now
}

const isOver = (error: unknown) => error instanceof WidgetError && error.code === 4040

/** Errors after which the next poll may succeed. */
const isPassing = (error: unknown) => error instanceof Offline || (error instanceof WidgetError && error.code >= 4290)

const adviceFor310 = () =>
  `Check the widgetId given to VerifyWidget.mount, and that ${location.origin} is one of the widget's origins.`

/** Adds the signed result to the form around the widget, so that the form submits it. */
function putIntoForm(host: HTMLElement, result: string): HTMLInputElement | undefined {
  const input = Object.assign(document.createElement('input'), {
    type: 'hidden',
    name: 'tidings-verification',
    value: result,
  })
  host.closest('form')?.append(input)
  return input
}
