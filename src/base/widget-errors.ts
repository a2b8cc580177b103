/**
 * The error codes of the widget. The browser shows them and the company's log keeps them. 1xx: the visitor can solve the
 * problem. 2xx: settings. 3xx: integration.
 */
export const widgetErrors = {
  captchaFailed: 110,
  tooMany: 130,
  noFunds: 210,
  noSender: 230,
  unknownWidget: 310,
  noKey: 320,
  notAsked: 321,
  badApiKey: 330,
  wrongKeyType: 331,
  captchaBroken: 340,
  captchaNotLoaded: 341,
  sendAuthKeyFailed: 350,
} as const

/** The widget does not serve this number or channel. The specification has no code for it: the API answers with a bad request. */
export const NOT_SERVED = 4000

export type WidgetErrorCode = (typeof widgetErrors)[keyof typeof widgetErrors] | typeof NOT_SERVED
