import type { VerifierSettings } from '../../../../src/domain/verifiers/verifier.ts'
import type { Channel, Checked, Opened, Service, Session, SessionRequest, State } from '../../../../widget/api.ts'

/** The settings that decide how a verification runs. */
export type CodeSettings = Pick<
  VerifierSettings,
  'channels' | 'codeLength' | 'lifetimeSeconds' | 'tries' | 'pauseSeconds'
>

const FLASHCALL_DIGITS = 4

/** The code that the preview accepts. A flash call uses its first four digits. */
export const sampleCode = (length: number) => '12345678'.slice(0, Math.min(Math.max(length, 1), 8))

/** Imitates the verification service for the preview. It answers according to the settings and sends no request. */
export class PreviewService implements Service {
  readonly #settings: CodeSettings
  #channel: Channel
  #triesLeft: number
  #isConfirmed = false
  #sentAt = 0

  constructor(settings: CodeSettings) {
    this.#settings = settings
    this.#channel = settings.channels[0] ?? 'SMS'
    this.#triesLeft = settings.tries
  }

  async open(): Promise<Opened> {
    const { channels, codeLength } = this.#settings
    return {
      channels: channels.length > 0 ? channels : ['SMS'],
      codeLength,
      isBuilder: true,
      captcha: { kind: 'none' },
    }
  }

  async createSession({ channelType }: SessionRequest): Promise<Session & State> {
    return { key: 'preview', secret: 'preview', ...this.#send(channelType) }
  }

  deliver = async (_: Session): Promise<State> => this.#state()
  state = async (_: Session): Promise<State> => this.#state()
  again = async (_: Session, channelType: Channel): Promise<State> => this.#send(channelType)
  report() {}

  async check(_: Session, code: string): Promise<Checked> {
    if (this.#triesLeft === 0) return { status: 'EXPIRED', ...this.#state() }
    this.#isConfirmed = code === sampleCode(this.#length)
    if (!this.#isConfirmed) this.#triesLeft--
    return { status: this.#isConfirmed ? 'CONFIRMED' : 'WRONG_CODE', ...this.#state() }
  }

  #send(channelType: Channel): State {
    this.#channel = channelType
    this.#triesLeft = this.#settings.tries
    this.#sentAt = Date.now()
    return this.#state()
  }

  get #length() {
    return this.#channel === 'FLASHCALL' ? FLASHCALL_DIGITS : this.#settings.codeLength
  }

  #state(): State {
    const { lifetimeSeconds, pauseSeconds } = this.#settings
    const passed = (Date.now() - this.#sentAt) / 1000
    const left = (seconds: number) => Math.max(0, Math.ceil(seconds - passed))
    return {
      state: this.#isConfirmed ? 'CONFIRMED' : 'SENT',
      channelType: this.#channel,
      codeLength: this.#length,
      triesLeft: this.#triesLeft,
      secondsToExpire: left(lifetimeSeconds),
      secondsToResend: left(pauseSeconds),
    }
  }
}
