import type { Language } from '../../../../src/domain/people/person.ts'
import type { WidgetLook } from '../../../../src/domain/verifiers/verifier.ts'
import { Flow } from '../../../../widget/flow.ts'
import { View } from '../../../../widget/view/view.ts'
import { Words } from '../../../../widget/words.ts'
import { type CodeSettings, PreviewService } from './preview-service.ts'

export type RunningPreview = { setLook(look: WidgetLook): void; stop(): void }

const DESTINATION = '79160000001'

/** Runs the real screens and steps of the widget in an element of this page, with a service that sends nothing. */
export function startPreview(
  host: HTMLElement,
  { theme, language, settings }: { theme: 'light' | 'dark'; language: Language; settings: CodeSettings },
): RunningPreview {
  const words = new Words(language)
  const flow = new Flow({
    host,
    destination: DESTINATION,
    captchaSiteKey: undefined,
    sendAuthKey: undefined,
    onSuccess: undefined,
    words,
    api: new PreviewService(settings),
    memory: { read: () => undefined, write() {} },
  })
  const styleUrl = new URL('../widget/VerifyWidget.css', document.baseURI).href
  const view = new View(host, { words, theme, destination: DESTINATION, styleUrl, actions: flow.actions })
  flow.start(view)
  return {
    setLook: look => view.setLook(isDrawable(look) ? look : { ...look, accent: null, accentDark: null }),
    stop() {
      flow.stop()
      view.stop()
    },
  }
}

/** False while a colour is incomplete. */
const isDrawable = ({ accent, accentDark }: WidgetLook) =>
  [accent, accentDark].every(colour => colour === null || /^#[0-9a-f]{6}$/.test(colour))
