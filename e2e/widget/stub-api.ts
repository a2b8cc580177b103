import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { bodyOf, useServer } from '../pages.ts'

// biome-ignore lint/suspicious/noExplicitAny: each test chooses requests and answers
type Json = any
type Path = 'open' | 'sessions' | 'deliver' | 'state' | 'check' | 'again' | 'errors'
type Answer = { status?: number; body?: Json } | 'silence' | 'cut'

/** The answers to one widget. */
export interface Scene {
  opened: Json
  state: Json
  answers: Partial<Record<Path, (body: Json) => Answer>>
  requests: { path: Path; body: Json }[]
}

const types: Record<string, string> = { js: 'text/javascript', css: 'text/css' }

export const CODE = '418305'

/**
 * A stub of the service for the browser. It causes screens that the real service causes only after minutes, or after a
 * failure that a test cannot cause. Every widget id has its own scene.
 */
export function useStubApi() {
  const scenes = new Map<string, Scene>()
  const files = new Map<string, string>()

  const server = useServer(async (request, response) => {
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-allow-headers', 'content-type')
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    const path = new URL(request.url!, 'http://stub').pathname.slice('/widget/'.length)
    if (request.method === 'GET') {
      const content = files.get(path) ?? (await readFile(new URL(`../../dist/widget/${path}`, import.meta.url), 'utf8'))
      return void response.writeHead(200, { 'content-type': types[path.split('.').at(-1)!]! }).end(content)
    }
    const answer = answerTo(path.slice('api/'.length) as Path, JSON.parse(await bodyOf(request)))
    if (answer === 'silence') return
    if (answer === 'cut') return void request.socket.destroy()
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' })
    response.end(answer.status === 204 ? undefined : JSON.stringify(answer.body))
  })

  function answerTo(path: Path, body: Json): Answer {
    const scene = sceneOf(body.widgetId ?? body.key)
    scene.requests.push({ path, body })
    return (scene.answers[path] ?? usual[path])(body)
  }

  const usual: Record<Path, (body: Json) => Answer> = {
    open: ({ widgetId }) => ({ body: sceneOf(widgetId).opened }),
    sessions: ({ widgetId, channelType }) => {
      const scene = sceneOf(widgetId)
      scene.state.channelType = channelType
      return { body: { key: widgetId, secret: 'a-secret', ...scene.state, state: 'WAITING', error: undefined } }
    },
    deliver: ({ key }) => ({ body: sceneOf(key).state }),
    state: ({ key }) => ({ body: sceneOf(key).state }),
    check: ({ key, code }) => ({ body: checked(sceneOf(key), code) }),
    again: ({ key, channelType }) => {
      const scene = sceneOf(key)
      scene.state = { ...scene.state, state: 'SENT', channelType }
      return { body: { ...scene.state, state: 'WAITING' } }
    },
    errors: () => ({ status: 204 }),
  }

  function sceneOf(widgetId: string): Scene {
    const scene = scenes.get(widgetId) ?? aScene()
    scenes.set(widgetId, scene)
    return scene
  }

  return {
    url: () => `http://127.0.0.1:${server.port()}`,
    sceneOf,
    /** Serves one more file beside the script. */
    addFile: (name: string, content: string) => void files.set(name, content),
    reset() {
      scenes.clear()
      files.clear()
    },
  }
}

const aScene = (): Scene => ({
  opened: {
    channels: ['SMS', 'FLASHCALL', 'VOICECODE', 'TELEGRAM', 'WHATSAPP'],
    codeLength: CODE.length,
    isBuilder: false,
    captcha: { kind: 'altcha', challenge: challengeOf(42, 1000) },
  },
  state: {
    state: 'SENT',
    channelType: 'SMS',
    codeLength: CODE.length,
    triesLeft: 3,
    secondsToExpire: 300,
    secondsToResend: 600,
  },
  answers: {},
  requests: [],
})

function checked(scene: Scene, code: string) {
  if (code === CODE) scene.state = { ...scene.state, state: 'CONFIRMED' }
  else scene.state = { ...scene.state, triesLeft: scene.state.triesLeft - 1 }
  return { ...scene.state, status: code === CODE ? 'CONFIRMED' : 'WRONG_CODE' }
}

export const refusal = (code: number, retryAfterSeconds?: number): Answer => ({
  status: 400,
  body: { error: { code, msg: 'A reason', retryAfterSeconds } },
})

/** A challenge whose number is not below `maxNumber` takes as long as trying all numbers. */
export function challengeOf(number: number, maxNumber: number) {
  const salt = 'a salt of the tests?expires=1'
  const challenge = createHash('sha256').update(`${salt}${number}`).digest('hex')
  return { algorithm: 'SHA-256', challenge, maxNumber, salt, signature: 'signed' }
}

/** A stub of a provider's script with the functions that the widget uses. `hcaptcha.pass()` is the visitor's click. */
export const providerScript = (name: string, kind: string) => `{
  let options, place
  window.${name} = {
    render(element, given) {
      if (element.getRootNode() !== document) throw new Error('cannot render in a shadow root')
      options = given
      place = element
      element.innerHTML = '<div style="width:' + (given.size === 'compact' ? 164 : 304) + 'px;height:78px;background:#e8e8e8"></div>'
      return 'an-id'
    },
    reset(id) { if (id === 'an-id') window.${name}.resets++ },
    resets: 0,
    options: () => options,
    pass: token => options.callback(token),
    expire: () => options['expired-callback'](),
    fail: reason => options['error-callback'](reason),
  }
  tidingsLoaded_${kind}()
}`
