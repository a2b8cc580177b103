import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** The expectations and the behaviour of the fake Cloud API. */
export type CloudSettings = {
  phoneNumberId: string
  displayPhoneNumber: string
  accessToken: string
  appSecret: string
  apiVersion: string
  /** Registered templates as `name:language`, with the number of their placeholders, or for a code. */
  templates?: Record<string, number | 'authentication'>
  /** The time until the answer. */
  answerMs?: number
}

/** The behaviour for the next request, instead of the usual one. */
export type Trick =
  | { do: 'answer'; status: number; body: string; headers?: Record<string, string> }
  /** A documented error. `with` adds members to the error. */
  | { do: 'error'; code: number; with?: Record<string, unknown>; status?: number; headers?: Record<string, string> }
  /** Reads the request, and never answers. */
  | { do: 'silence' }
  /** Reads the request, and resets the connection. */
  | { do: 'reset' }

export type CloudMessage = { uuid: string; id: string; to: string; body: string }

export type Cloud = {
  readonly url: string
  /** The accepted messages, in order. */
  readonly messages: CloudMessage[]
  /** The errors in requests, in words. */
  readonly complaints: string[]
  /** Every request that was read to its end, with any result. */
  readonly requests: string[]
  /** Applies these behaviours to the next requests, one each. */
  play(...tricks: Trick[]): void
  /** Resets this number of the next connections before reading from them. */
  resetConnections(count: number): void
  /** Verifies the webhook as Meta does when its address is entered. From then on it gets all statuses. */
  subscribe(webhookUrl: string, verifyToken: string): Promise<{ status: number; answer: string }>
  /** Sends a status to the webhook, until it is acknowledged. */
  tell(...values: object[]): Promise<void>
  stop(): Promise<void>
}

type CloudError = { code: number; status: number; title: string }
type Json = Record<string, unknown>

const TELL_AGAIN_MS = 20
const MOST_TELLINGS = 250

/**
 * A fake of the messages endpoint of Meta's Cloud API, after its documentation, over a real socket, and of its
 * webhooks. It checks every byte of a request. The last four digits of a number decide the result: 0003 is not
 * delivered, 0004 is refused, 0005 gets no status, 0006 gets its status twice, 0008 is read at once, 0009 first gets
 * the error of too many messages.
 */
export async function startCloud(settings: CloudSettings): Promise<Cloud> {
  const messages: CloudMessage[] = []
  const complaints: string[] = []
  const requests: string[] = []
  const tricks: Trick[] = []
  const tried = new Set<string>()
  const stopping = new AbortController()
  const telling = new Set<Promise<void>>()
  let webhookUrl: string | undefined
  let resets = 0

  const server = createServer((request, response) => {
    void read(request).then(body => take(request, body, response))
  })
  server.on('connection', socket => {
    if (resets-- > 0) socket.resetAndDestroy()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))

  async function take(request: IncomingMessage, body: string, response: ServerResponse) {
    requests.push(body)
    const trick = tricks.shift()
    if (trick?.do === 'silence') return
    if (trick?.do === 'reset') return request.socket.resetAndDestroy()
    if (settings.answerMs) await pause(settings.answerMs)
    if (trick?.do === 'answer') return void response.writeHead(trick.status, trick.headers).end(trick.body)
    if (trick?.do === 'error') return fail(response, trick.code, trick)
    const wrong = wrongCall(request, body) ?? wrongBody(body)
    if (!wrong) return accept(JSON.parse(body), body, response)
    complaints.push(wrong.complaint)
    fail(response, wrong.code, wrong)
  }

  type Wrong = { code: number; complaint: string; with?: Json }

  function wrongCall({ method, url, headers }: IncomingMessage, body: string): Wrong | undefined {
    if (method !== 'POST' || url !== `/${settings.apiVersion}/${settings.phoneNumberId}/messages`)
      return { code: 100, complaint: `${method} ${url}`, with: { type: 'GraphMethodException', error_subcode: 33 } }
    if (headers.authorization !== `Bearer ${settings.accessToken}`)
      return { code: 190, complaint: 'authorization', with: { message: `Malformed ${headers.authorization}` } }
    if (headers['content-type'] !== 'application/json') return { code: 100, complaint: 'content-type' }
    if (Number(headers['content-length']) !== Buffer.byteLength(body)) return { code: 100, complaint: 'content-length' }
  }

  /** The documented members, in their order, and nothing else: byte for byte. */
  function wrongBody(body: string): Wrong | undefined {
    const given = jsonIn(body)
    const documented = JSON.stringify(asDocumented(given))
    if (documented !== body) return { code: 100, complaint: `${body} is not ${documented}` }
    const limit = brokenLimit(given)
    if (limit) return { code: 131009, complaint: limit }
    if (given.type === 'template') return wrongTemplate(given.template)
  }

  function wrongTemplate({ name, language, components = [] }: Json & { components?: Json[] }): Wrong | undefined {
    const places = settings.templates?.[`${name}:${(language as Json).code}`]
    if (places === undefined) return { code: 132001, complaint: `no template ${name}` }
    const given = (components[0]?.parameters as unknown[] | undefined)?.length ?? 0
    if (places !== 'authentication')
      return given === places ? undefined : { code: 132000, complaint: `${given} parameters` }
    if (components[1]?.type !== 'button') return { code: 131008, complaint: 'no button for the code' }
  }

  function accept(
    given: Json & { to: string; biz_opaque_callback_data: string },
    body: string,
    response: ServerResponse,
  ) {
    const destination = given.to.slice(1)
    const ending = destination.slice(-4)
    if (ending === '0004') return fail(response, 131026)
    if (ending === '0009' && !tried.has(destination)) {
      tried.add(destination)
      return fail(response, 131056)
    }
    const id = `wamid.${Buffer.from(`${destination}-${messages.length}`).toString('base64')}`
    messages.push({ uuid: given.biz_opaque_callback_data, id, to: destination, body })
    const contacts = [{ input: given.to, wa_id: destination }]
    const taken = { id, ...(given.type === 'template' ? { message_status: 'accepted' } : {}) }
    answer(response, 200, { messaging_product: 'whatsapp', contacts, messages: [taken] })
    for (const status of fateOf(ending))
      void tell({ statuses: [{ ...statusOf(id, destination, status), ...opaque(given) }] })
  }

  const opaque = ({ biz_opaque_callback_data }: Json) => ({ biz_opaque_callback_data })

  async function subscribe(url: string, verifyToken: string) {
    const query = new URLSearchParams({
      'hub.mode': 'subscribe',
      'hub.challenge': '1158201444',
      'hub.verify_token': verifyToken,
    })
    const response = await fetch(`${url}?${query}`)
    const text = await response.text()
    if (response.status === 200 && text === '1158201444') webhookUrl = url
    return { status: response.status, answer: text }
  }

  function tell(...values: object[]): Promise<void> {
    const told = post(JSON.stringify(noticeOf(settings, values))).finally(() => telling.delete(told))
    telling.add(told)
    return told
  }

  async function post(body: string) {
    for (let i = 0; i < MOST_TELLINGS && webhookUrl && !stopping.signal.aborted; i++) {
      const headers = {
        'content-type': 'application/json',
        'x-hub-signature-256': signatureOf(body, settings.appSecret),
      }
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(5000)])
      const response = await fetch(webhookUrl, { method: 'POST', headers, body, signal }).catch(() => undefined)
      await response?.bytes().catch(() => undefined)
      if (response?.status === 200) return
      await pause(TELL_AGAIN_MS)
    }
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    complaints,
    requests,
    play: (...more) => void tricks.push(...more),
    resetConnections(count) {
      resets = count
    },
    subscribe,
    tell,
    async stop() {
      stopping.abort()
      await Promise.all(telling)
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk)
  } catch {
    // the client closed the connection
  }
  return Buffer.concat(chunks).toString('utf8')
}

// Requests ----------------------------------------------------------------------------------------------------------

// biome-ignore lint/suspicious/noExplicitAny: the code below checks every member
type Given = any

function jsonIn(body: string): Given {
  try {
    return JSON.parse(body) ?? {}
  } catch {
    return {}
  }
}

/** The request in the form of the documentation, with the given values. */
const asDocumented = (given: Given) => ({
  messaging_product: 'whatsapp',
  recipient_type: 'individual',
  to: `+${digits(given.to)}`,
  type: given.type,
  ...(given.type === 'text' ? { text: { body: word(given.text?.body) } } : {}),
  ...(given.type === 'interactive' ? { interactive: buttonMessage(given.interactive) } : {}),
  ...(given.type === 'template' ? { template: templateMessage(given.template) } : {}),
  biz_opaque_callback_data: word(given.biz_opaque_callback_data),
})

const buttonMessage = (given: Given) => ({
  type: 'cta_url',
  ...(given?.header ? { header: { type: 'text', text: word(given.header.text) } } : {}),
  body: { text: word(given?.body?.text) },
  ...(given?.footer ? { footer: { text: word(given.footer.text) } } : {}),
  action: {
    name: 'cta_url',
    parameters: {
      display_text: word(given?.action?.parameters?.display_text),
      url: word(given?.action?.parameters?.url),
    },
  },
})

const templateMessage = (given: Given) => ({
  name: word(given?.name),
  language: { code: word(given?.language?.code) },
  ...(given?.components ? { components: given.components.map(component) } : {}),
})

const component = (given: Given) => ({
  type: given?.type === 'button' ? 'button' : 'body',
  ...(given?.type === 'button' ? { sub_type: 'url', index: '0' } : {}),
  parameters: given?.parameters?.map(({ text }: Given) => ({ type: 'text', text: word(text) })),
})

const digits = (value: unknown) => word(value).replace(/\D/g, '')

/** Texts are never empty. */
const word = (value: unknown) => (typeof value === 'string' && value !== '' ? value : '<a text>')

function brokenLimit({ type, text, interactive, template }: Given): string | undefined {
  if (type === 'text') return longer('text', text.body, 4096)
  if (type === 'interactive')
    return (
      longer('header', interactive.header?.text, 60) ??
      longer('body', interactive.body.text, 1024) ??
      longer('footer', interactive.footer?.text, 60) ??
      longer('display_text', interactive.action.parameters.display_text, 20) ??
      (URL.canParse(interactive.action.parameters.url) ? undefined : 'url')
    )
  return longer('code', template?.components?.[1]?.parameters[0].text, 15)
}

const longer = (name: string, text: string | undefined, most: number) =>
  text && [...text].length > most ? `${name} is longer than ${most}` : undefined

// Answers -----------------------------------------------------------------------------------------------------------

/** From Meta's list of error codes. Codes from 200 to 299 are all about permissions. */
export const documentedErrors: readonly CloudError[] = [
  { code: 0, status: 401, title: 'AuthException' },
  { code: 1, status: 400, title: 'API Unknown' },
  { code: 2, status: 503, title: 'API Service' },
  { code: 3, status: 500, title: 'API Method' },
  { code: 4, status: 400, title: 'API Too Many Calls' },
  { code: 10, status: 403, title: 'Permission Denied' },
  { code: 33, status: 400, title: 'Parameter value is not valid' },
  { code: 100, status: 400, title: 'Invalid parameter' },
  { code: 190, status: 401, title: 'Access token has expired' },
  { code: 200, status: 403, title: 'API Permission' },
  { code: 299, status: 403, title: 'API Permission' },
  { code: 368, status: 403, title: 'Temporarily blocked for policies violations' },
  { code: 80007, status: 400, title: 'Rate limit issues' },
  { code: 130429, status: 400, title: 'Rate limit hit' },
  { code: 130472, status: 400, title: "User's number is part of an experiment" },
  { code: 130497, status: 403, title: 'Business account is restricted from messaging users in this country' },
  { code: 131000, status: 500, title: 'Something went wrong' },
  { code: 131005, status: 403, title: 'Access denied' },
  { code: 131008, status: 400, title: 'Required parameter is missing' },
  { code: 131009, status: 400, title: 'Parameter value is not valid' },
  { code: 131016, status: 500, title: 'Service unavailable' },
  { code: 131021, status: 400, title: 'Recipient cannot be sender' },
  { code: 131026, status: 400, title: 'Message undeliverable' },
  { code: 131030, status: 400, title: 'Recipient not in allowed list' },
  { code: 131031, status: 403, title: 'Account has been locked' },
  { code: 131037, status: 400, title: 'Display name approval needed' },
  { code: 131042, status: 400, title: 'Business eligibility payment issue' },
  { code: 131045, status: 500, title: 'Incorrect certificate' },
  { code: 131047, status: 400, title: 'Re-engagement message' },
  { code: 131048, status: 400, title: 'Spam rate limit hit' },
  { code: 131049, status: 400, title: 'Meta chose not to deliver' },
  { code: 131050, status: 400, title: 'User has stopped marketing messages' },
  { code: 131051, status: 400, title: 'Unsupported message type' },
  { code: 131052, status: 400, title: 'Media download error' },
  { code: 131053, status: 400, title: 'Media upload error' },
  { code: 131056, status: 400, title: '(Business Account, Consumer Account) pair rate limit hit' },
  { code: 131057, status: 500, title: 'Account in maintenance mode' },
  { code: 132000, status: 400, title: 'Template Param Count Mismatch' },
  { code: 132001, status: 404, title: 'Template does not exist' },
  { code: 132005, status: 400, title: 'Template Hydrated Text Too Long' },
  { code: 132007, status: 400, title: 'Template Format Character Policy Violated' },
  { code: 132012, status: 400, title: 'Template Parameter Format Mismatch' },
  { code: 132015, status: 400, title: 'Template is Paused' },
  { code: 132016, status: 400, title: 'Template is Disabled' },
  { code: 133010, status: 400, title: 'Phone number Not Registered' },
  { code: 135000, status: 400, title: 'Generic user error' },
]

type Failure = { status?: number; with?: Json; headers?: Record<string, string> }

function fail(response: ServerResponse, code: number, { status, with: more, headers }: Failure = {}) {
  const known = documentedErrors.find(error => error.code === code)
  const title = known?.title ?? 'Something new'
  const error = {
    message: `(#${code}) ${title}`,
    type: 'OAuthException',
    code,
    error_data: { messaging_product: 'whatsapp', details: title },
    fbtrace_id: 'Az8or2yhqkZfEZ-_4Qn_Bam',
    ...more,
  }
  answer(response, status ?? known?.status ?? 400, { error }, headers)
}

const answer = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) =>
  void response
    .writeHead(status, { 'content-type': 'application/json; charset=UTF-8', ...headers })
    .end(JSON.stringify(body))

// Webhooks ----------------------------------------------------------------------------------------------------------

function fateOf(ending: string): string[] {
  switch (ending) {
    case '0003':
      return ['sent', 'failed']
    case '0005':
      return []
    case '0006':
      return ['sent', 'delivered', 'delivered']
    case '0008':
      return ['sent', 'read']
    default:
      return ['sent', 'delivered']
  }
}

const UNDELIVERABLE = { code: 131026, title: 'Message undeliverable', message: 'Message undeliverable' }

/** A status in the form of the webhook. */
export const statusOf = (id: string, recipient: string, status: string) => ({
  id,
  status,
  timestamp: '1771200000',
  recipient_id: recipient,
  ...(status === 'failed' ? { errors: [{ ...UNDELIVERABLE, error_data: { details: 'Message Undeliverable.' } }] } : {}),
  ...(status === 'sent' ? { pricing: { billable: true, pricing_model: 'PMP', category: 'utility' } } : {}),
})

/** Makes a change of each value. */
export const noticeOf = (
  { phoneNumberId, displayPhoneNumber }: Pick<CloudSettings, 'phoneNumberId' | 'displayPhoneNumber'>,
  values: object[],
) => ({
  object: 'whatsapp_business_account',
  entry: [
    {
      id: '102290129340398',
      changes: values.map(value => ({
        value: {
          messaging_product: 'whatsapp',
          metadata: { display_phone_number: displayPhoneNumber, phone_number_id: phoneNumberId },
          ...value,
        },
        field: 'messages',
      })),
    },
  ],
})

export const signatureOf = (body: string | Buffer, appSecret: string) =>
  `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`
