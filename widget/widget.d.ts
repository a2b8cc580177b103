/** Types of https://<service>/widget/VerifyWidget.umd.min.js, which defines the global `VerifyWidget`. */

export interface VerifyWidgetOptions {
  /** The phone number in international form: digits, with or without "+". */
  destination: string
  /** From `tidings widget create`. */
  widgetId: string
  /** The site key of reCAPTCHA, hCaptcha or Turnstile. By default the key of the widget's settings. */
  captchaSiteKey?: string
  /** By default the language of the page, or English if the widget has no texts in that language. */
  lang?: 'en' | 'ru'
  /** By default `auto`: the theme of the visitor's system. */
  theme?: 'auto' | 'light' | 'dark'
}

/**
 * Passes the key to the site's server, which calls `POST /api/v1/verifier/widget/send` with it. The widget shows error
 * 350 when the function throws, its promise rejects, or it resolves to a `Response` that is not ok.
 */
export type SendAuthKey = (key: string) => Promise<unknown>

/**
 * The widget calls it once, after the number is confirmed. `result` is a signed text, only on pages of site builders.
 */
export type OnSuccess = (key: string, result?: string) => void

export interface VerifyWidgetApi {
  /**
   * Shows the widget in the first element that matches the selector. Replaces a widget that the element already has.
   * Throws if no element matches.
   */
  mount(selector: string, options: VerifyWidgetOptions, sendAuthKey?: SendAuthKey, onSuccess?: OnSuccess): void
  /** Stops the widget and removes it from the page. Does nothing if the element has no widget. */
  unmount(selector: string): void
}

declare global {
  const VerifyWidget: VerifyWidgetApi
  interface Window {
    VerifyWidget: VerifyWidgetApi
  }
}
