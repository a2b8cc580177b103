import { Api } from './api.ts'
import { Flow } from './flow.ts'
import { Memory } from './memory.ts'
import { type Theme, View } from './view/view.ts'
import type { OnSuccess, SendAuthKey, VerifyWidgetApi, VerifyWidgetOptions } from './widget.d.ts'
import { type Lang, Words } from './words.ts'

/**
 * The folder of this script, which also has the style sheet and the API. `currentScript` exists only during the first
 * run.
 */
const base = new URL('.', (document.currentScript as HTMLScriptElement | null)?.src || findScript()).href

const unmountOf = new WeakMap<Element, () => void>()

const verifyWidget: VerifyWidgetApi = { mount, unmount }
Object.assign(window, { VerifyWidget: verifyWidget })

function mount(selector: string, options: VerifyWidgetOptions, sendAuthKey?: SendAuthKey, onSuccess?: OnSuccess) {
  const host = document.querySelector<HTMLElement>(selector)
  if (!host) throw new Error(`VerifyWidget.mount: no element of this page matches "${selector}"`)
  unmountOf.get(host)?.()

  const { destination, widgetId, captchaSiteKey, lang, theme, mistakes } = readOptions(options, sendAuthKey, onSuccess)
  const words = new Words(lang)
  const stopped = new AbortController()
  const api = new Api(base, widgetId, lang, stopped.signal)
  const memory = new Memory(widgetId, destination)
  const flow = new Flow({ host, destination, captchaSiteKey, sendAuthKey, onSuccess, words, api, memory })
  const view = new View(host, { words, theme, destination, styleUrl: `${base}VerifyWidget.css`, actions: flow.actions })
  unmountOf.set(host, () => {
    unmountOf.delete(host)
    flow.stop()
    stopped.abort()
    view.stop()
  })

  for (const mistake of mistakes) console.error(`VerifyWidget.mount: ${mistake}`)
  if (mistakes.length > 0) flow.startWithError(view, 310)
  else if (!/^\d{7,15}$/.test(destination)) flow.startWithError(view, 4000)
  else flow.start(view)
}

function unmount(selector: string) {
  const host = document.querySelector(selector)
  if (host) unmountOf.get(host)?.()
}

/** Checks each option, because pages without types may pass any value. */
function readOptions(options: Partial<VerifyWidgetOptions> | undefined, sendAuthKey: unknown, onSuccess: unknown) {
  const { destination, widgetId, captchaSiteKey, lang, theme } = options ?? {}
  const rules: [isRight: boolean, mistake: string][] = [
    [isText(widgetId), 'options.widgetId must be the id that `tidings widget create` printed'],
    [isText(destination) || typeof destination === 'number', 'options.destination must be a phone number, as a string'],
    [captchaSiteKey === undefined || isText(captchaSiteKey), 'options.captchaSiteKey must be a string'],
    [lang === undefined || isLang(lang), "options.lang must be 'en' or 'ru'"],
    [theme === undefined || isTheme(theme), "options.theme must be 'auto', 'light' or 'dark'"],
    [isFunctionOrMissing(sendAuthKey), 'the third parameter, sendAuthKey, must be a function'],
    [isFunctionOrMissing(onSuccess), 'the fourth parameter, onSuccess, must be a function'],
  ]
  return {
    widgetId: String(widgetId),
    destination: String(destination ?? '').replace(/[\s()+.-]/g, ''),
    captchaSiteKey,
    lang: isLang(lang) ? lang : languageOfPage(),
    theme: isTheme(theme) ? theme : undefined,
    mistakes: rules.flatMap(([isRight, mistake]) => (isRight ? [] : [mistake])),
  }
}

const isText = (value: unknown) => typeof value === 'string' && value !== ''
const isLang = (value: unknown): value is Lang => value === 'en' || value === 'ru'
const isTheme = (value: unknown): value is Theme => value === 'auto' || value === 'light' || value === 'dark'
const isFunctionOrMissing = (value: unknown) => value === undefined || value === null || typeof value === 'function'

const languageOfPage = (): Lang => (/^ru\b/i.test(document.documentElement.lang || navigator.language) ? 'ru' : 'en')

/** A module or a bundle has no `currentScript`. */
function findScript(): string {
  return (
    document.querySelector<HTMLScriptElement>('script[src*="widget/VerifyWidget.umd.min.js"]')?.src ?? location.href
  )
}
