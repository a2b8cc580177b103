import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'
import { selfSigned } from './self-signed.ts'

/** The moments at which the server can do something else than usual. */
type Step = 'connect' | 'EHLO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'body'

type Options = {
  tls?: 'direct' | 'starttls' | 'none'
  /** The name in the certificate. */
  name?: string
  login?: { user: string; password: string }
  /** An answer instead of the usual one, or no answer. `drip` sends a byte now and then and never ends the answer. */
  instead?: Partial<Record<Step, string | 'hang' | 'close' | 'drip'>>
}

export type ReceivedMail = { from: string; to: string; raw: string; isEncrypted: boolean; user: string | undefined }

/** A mail server on this machine, which keeps the mails. */
export class TestSmtpServer {
  readonly mails: ReceivedMail[] = []
  /** Commands of all connections, without their values. */
  readonly commands: string[] = []
  readonly certificate: { key: string; cert: string }
  readonly #options: Options
  readonly #sockets = new Set<Socket>()
  readonly #server: Server

  private constructor(options: Options) {
    this.#options = options
    this.certificate = selfSigned(options.name ?? 'localhost')
    this.#server =
      options.tls === 'direct'
        ? createTlsServer(this.certificate, socket => this.#accept(socket)).on('tlsClientError', () => {})
        : createServer(socket => this.#accept(socket))
  }

  static async start(options: Options = {}): Promise<TestSmtpServer> {
    const server = new TestSmtpServer(options)
    await new Promise<void>(resolve => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  get openConnections(): number {
    return this.#sockets.size
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise(resolve => this.#server.close(resolve))
  }

  #accept(socket: Socket) {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket)).on('error', () => {})
    const session = new Session(this, this.#options)
    session.listen(socket)
    session.answer('connect', '220 localhost ESMTP')
  }
}

class Session {
  readonly #server: TestSmtpServer
  readonly #options: Options
  #socket: Socket | undefined
  #unread = ''
  #isBody = false
  #isSilent = false
  #isEncrypted = false
  #user: string | undefined
  #from = ''
  #to = ''

  constructor(server: TestSmtpServer, options: Options) {
    this.#server = server
    this.#options = options
  }

  listen(socket: Socket) {
    this.#socket = socket
    this.#isEncrypted = socket instanceof TLSSocket
    socket.on('error', () => {})
    socket.on('data', bytes => this.#read(bytes.toString('latin1')))
  }

  encrypt(socket: Socket) {
    socket.removeAllListeners('data')
    this.listen(new TLSSocket(socket, { isServer: true, ...this.#server.certificate }))
  }

  answer(step: Step, usual: string) {
    const instead = this.#options.instead?.[step]
    if (instead === 'close') this.#socket!.destroy()
    else if (instead === 'drip') this.#drip()
    else if (instead === 'hang') this.#isSilent = true
    else this.#socket!.write(`${instead ?? usual}\r\n`)
    return instead === undefined
  }

  #drip() {
    this.#isSilent = true
    const timer = setInterval(() => this.#socket!.write('250-still here\r\n'), 20)
    this.#socket!.on('close', () => clearInterval(timer))
  }

  #read(bytes: string) {
    if (this.#isSilent) return
    this.#unread += bytes
    while (true) {
      const end = this.#unread.indexOf(this.#isBody ? '\r\n.\r\n' : '\r\n')
      if (end < 0) return
      const text = this.#unread.slice(0, end)
      this.#unread = this.#unread.slice(end + (this.#isBody ? 5 : 2))
      if (this.#isBody) this.#receive(text)
      else this.#do(text)
    }
  }

  #receive(raw: string) {
    this.#isBody = false
    const unstuffed = raw.replaceAll(/^\./gm, '')
    const mail = { from: this.#from, to: this.#to, raw: unstuffed, isEncrypted: this.#isEncrypted, user: this.#user }
    if (this.answer('body', '250 2.0.0 taken')) this.#server.mails.push(mail)
  }

  #do(line: string) {
    const [word = '', ...values] = line.split(/[ :]/)
    const command = word.toUpperCase()
    this.#server.commands.push(command)
    if (command === 'MAIL') this.#from = addressIn(line)
    if (command === 'RCPT') this.#to = addressIn(line)
    if (command === 'EHLO') this.answer('EHLO', this.#extensions())
    else if (command === 'STARTTLS') {
      const socket = this.#socket!
      if (this.answer('STARTTLS', '220 go on')) this.encrypt(socket)
    } else if (command === 'AUTH') this.#signIn(values[1] ?? '')
    else if (command === 'MAIL') this.answer('MAIL', this.#signedIn())
    else if (command === 'RCPT') this.answer('RCPT', this.#signedIn())
    else if (command === 'DATA') this.#isBody = this.answer('DATA', '354 go on')
    else if (command === 'QUIT') this.#socket!.end('221 bye\r\n')
    else this.#socket!.write('500 unknown\r\n')
  }

  #extensions(): string {
    const { tls = 'starttls', login } = this.#options
    const isPlain = tls === 'starttls' && !this.#isEncrypted
    return [
      '250-localhost',
      ...(isPlain ? ['250-STARTTLS'] : login ? ['250-AUTH PLAIN'] : []),
      '250 SIZE 1000000',
    ].join('\r\n')
  }

  #signIn(given: string) {
    const { login } = this.#options
    const [, user, password] = Buffer.from(given, 'base64').toString().split('\0')
    const isRight = user === login?.user && password === login?.password
    if (isRight) this.#user = user
    // A careless server, which repeats the password.
    this.answer('AUTH', isRight ? '235 2.7.0 welcome' : `535 5.7.8 not ${user} with ${password}, ${given}`)
  }

  #signedIn(): string {
    return this.#options.login && !this.#user ? '530 5.7.0 sign in first' : '250 2.1.0 fine'
  }
}

const addressIn = (line: string) => /<(.*)>/.exec(line)?.[1] ?? ''

/** The header fields and the two texts of a mail, decoded. */
export function readMail({ raw }: ReceivedMail) {
  const [head, parts] = partsOf(raw)
  return { fields: head, text: textOf(parts, 'text/plain'), html: textOf(parts, 'text/html') }
}

type Part = { fields: Map<string, string>; body: string }

function partsOf(raw: string): [Map<string, string>, Part[]] {
  const { fields, body } = splitHead(raw)
  const boundary = /boundary="?([^";]+)/.exec(fields.get('content-type') ?? '')?.[1]
  if (boundary === undefined) return [fields, [{ fields, body }]]
  return [
    fields,
    body
      .split(`--${boundary}`)
      .slice(1, -1)
      .map(part => splitHead(part.replace(/^\r\n/, ''))),
  ]
}

function splitHead(raw: string): Part {
  const end = raw.indexOf('\r\n\r\n')
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const fields = lines.map((line): [string, string] => {
    const [, name = '', value = ''] = /^([^:]+): ?(.*)$/.exec(line) ?? []
    return [name.toLowerCase(), decodedWords(value)]
  })
  return { fields: new Map(fields), body: raw.slice(end + 4) }
}

const decodedWords = (text: string) =>
  text
    .replaceAll(/(\?=) (?==\?)/g, '$1')
    .replaceAll(/(?:=\?utf-8\?[bq]\?[^?]*\?=)+/gi, words =>
      Buffer.concat(
        [...words.matchAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi)].map(([, kind, word]) =>
          kind!.toLowerCase() === 'b' ? Buffer.from(word!, 'base64') : quotedPrintable(word!.replaceAll('_', ' ')),
        ),
      ).toString(),
    )

function textOf(parts: Part[], type: string): string {
  const part = parts.find(({ fields }) => fields.get('content-type')?.startsWith(type))
  const encoding = part?.fields.get('content-transfer-encoding')
  const body = part?.body ?? ''
  const bytes =
    encoding === 'base64'
      ? Buffer.from(body, 'base64')
      : encoding === 'quoted-printable'
        ? quotedPrintable(body.replaceAll('=\r\n', ''))
        : Buffer.from(body, 'latin1')
  return bytes.toString().replaceAll('\r\n', '\n')
}

const quotedPrintable = (text: string) =>
  Buffer.from(
    text.replaceAll(/=([0-9A-F]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
