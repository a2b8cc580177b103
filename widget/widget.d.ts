/** Types of https://<service>/widget/VerifyWidget.umd.min.js, which defines the global `VerifyWidget`. */

export interface VerifyWidgetOptions {
  /** The phone number in international form: digits, with or without "+". */
  destination: string
  /** From `tidings widget create`. */
  widgetId: string
  /** The site key of reCAPTCHA, hCaptcha or Turnstile, if not the one that the widget's settings have. */
  captchaSiteKey?: string
  /** By default the language of the page, and English if the widget does not speak it. */
  lang?: 'en' | 'ru'
  /** By default `auto`: as the visitor's system is set. */
  theme?: 'auto' | 'light' | 'dark'
}

/**
 * Hands the key to the site's server, which calls `POST /api/v1/verifier/widget/send` with it. The widget shows error
 * 350 when the function throws, its promise rejects, or it resolves to a `Response` that is not ok.
 */
export type SendAuthKey = (key: string) => Promise<unknown>

/** Called once the number is confirmed. `result`, a signed text, comes on pages of site builders only. */
export type OnSuccess = (key: string, result?: string) => void

export interface VerifyWidgetApi {
  /**
   * Shows the widget in the first element that matches the selector, instead of one that it may already have. Throws
   * if there is no such element.
   */
  mount(selector: string, options: VerifyWidgetOptions, sendAuthKey?: SendAuthKey, onSuccess?: OnSuccess): void
  /** Stops the widget and removes it from the page. Does nothing where there is none. */
  unmount(selector: string): void
}

declare global {
  const VerifyWidget: VerifyWidgetApi
  interface Window {
    VerifyWidget: VerifyWidgetApi
  }
}
