/**
 * Every error code of both APIs and of the widget, as `/docs/errors` and the OpenAPI documents explain it. A test compares
 * these lists with the codes of `error-handler.ts`, the error codes of messages and the error codes of the widget.
 */

export type ErrorEntry = {
  code: number
  title: string
  meaning: string
  cause: string
  remedy: string
}

/** A code in the body of an error answer. */
export type AnswerError = ErrorEntry & { status: number }

export const answerErrors: AnswerError[] = [
  {
    code: 320,
    status: 400,
    title: 'No key',
    meaning: '`widget/send` came without the `key` of a visitor.',
    cause: "The page's `sendAuthKey` did not pass its key on, or the site's server did not put it into the body.",
    remedy: 'Send the `key` that the widget gave to `sendAuthKey`: `{"key": "..."}`.',
  },
  {
    code: 4000,
    status: 400,
    title: 'Bad request',
    meaning: 'The request is wrong, or the present state forbids it. Nothing was changed.',
    cause:
      'JSON that cannot be read, a missing or wrong field, an unknown value, a file of a wrong kind, a state that forbids the action, or a budget that does not cover a start in the partner API.',
    remedy:
      '`msg` names the first wrong field by its path, for example `schedule.hours[1]: must be 0 to 23`. Correct it and send the request again.',
  },
  {
    code: 4010,
    status: 401,
    title: 'Not authenticated',
    meaning: 'The request carries no valid token or key.',
    cause:
      'No `Authorization` header; a token that is unknown, older than 24 hours or from before a password change; a key that is unknown, deactivated or reissued; a key of a disabled company.',
    remedy:
      'Partner API: get a new token with `POST /auth/token`. Messaging API: check the key, or ask the operator of the service for a new one.',
  },
  {
    code: 4012,
    status: 401,
    title: 'Bad credentials',
    meaning: 'Login and password do not match, or the `Authorization` header cannot be read.',
    cause: 'A wrong login or password; a header that is neither `Bearer ...` nor `Basic ...`.',
    remedy:
      'Check login and password. Write the header as `Authorization: Bearer` followed by a space and the token or key.',
  },
  {
    code: 4013,
    status: 401,
    title: 'IP not allowed',
    meaning: 'The key may not be used from this address.',
    cause: 'The key has a list of addresses, and the request came from another one.',
    remedy: 'Call from an address in the list, or have the list changed (`tidings key set --addresses`).',
  },
  {
    code: 4020,
    status: 402,
    title: 'Insufficient funds',
    meaning: 'The account of the company cannot pay for this.',
    cause:
      'The monthly budget of the company is used up or reserved, or the balance of a prepaid company is too small.',
    remedy: 'Top up the balance, raise the budget with `PUT /company/{id}`, or wait for the next month.',
  },
  {
    code: 4030,
    status: 403,
    title: 'Access denied',
    meaning: 'The key is valid, and of a type that does not open this section.',
    cause: 'For example an ENTITY key used to send messages, or a MESSAGE key used to register templates.',
    remedy: 'Use a key of the type that the operation names.',
  },
  {
    code: 4031,
    status: 403,
    title: 'Inappropriate dispatch status',
    meaning: 'The dispatch is in a status that does not allow this action (messaging API).',
    cause:
      'A second start, a stop of a dispatch that is not being sent, or recipients for a dispatch that has been started.',
    remedy: 'Read the dispatch with `GET /dispatch/{id}` and look at `status`. Create a new dispatch to send again.',
  },
  {
    code: 4040,
    status: 404,
    title: 'Not found',
    meaning: 'There is no such address, or no such object that belongs to you.',
    cause:
      'A mistake in the path, an id that does not exist, or an id that belongs to another partner or company. The answer does not tell which.',
    remedy: 'Check the address and the id. List the objects to find the right one.',
  },
  {
    code: 4050,
    status: 405,
    title: 'Method not allowed',
    meaning: 'The address exists, and does not take this HTTP method.',
    cause: 'For example a GET where the operation is a POST.',
    remedy: 'Use one of the methods in the `Allow` header of the answer.',
  },
  {
    code: 4090,
    status: 409,
    title: 'Request in progress',
    meaning: 'Another request with the same `Idempotency-Key` has not been answered yet.',
    cause: 'The request was repeated while the first one was being processed.',
    remedy: 'Wait a moment and send the same request again: it gets the answer of the first one.',
  },
  {
    code: 4130,
    status: 413,
    title: 'Request too large',
    meaning: 'The request body is larger than the operation accepts.',
    cause: 'Too many recipients, messages or files in one request.',
    remedy: '`msg` names the limit. Split the request into several.',
  },
  {
    code: 4150,
    status: 415,
    title: 'Unsupported content encoding',
    meaning: 'The request body is compressed in a way that the service does not read.',
    cause: 'A `Content-Encoding` other than `gzip` or `identity`.',
    remedy: 'Send the body uncompressed, or compressed with gzip.',
  },
  {
    code: 4220,
    status: 422,
    title: 'Idempotency key used again',
    meaning: 'This `Idempotency-Key` belongs to a different request of the last 24 hours.',
    cause: 'The same key was sent with another body or to another address.',
    remedy: 'Use a new key for every new request. Repeat a request with exactly the same body.',
  },
  {
    code: 4290,
    status: 429,
    title: 'Too many requests',
    meaning: 'A limit is reached. The request was not processed.',
    cause:
      'Too many wrong logins, too many verification codes, too many searches or reports at once, messages that wait under too many sender names, or texts that take too long to match with the templates of the company.',
    remedy: 'Wait as many seconds as the `Retry-After` header says, then send the request again.',
  },
  {
    code: 5000,
    status: 500,
    title: 'Internal error',
    meaning: 'The service made a mistake. It is in our log.',
    cause: 'A fault in Tidings.',
    remedy:
      'Send the request again, with an `Idempotency-Key` if it creates something. If it happens again, tell the operator of the service the value of `X-Request-Id`.',
  },
  {
    code: 5030,
    status: 503,
    title: 'Not ready',
    meaning: 'The service cannot take the request at this moment.',
    cause:
      'The database is away, the service is starting, more arrives than can be stored, or too many connections are open.',
    remedy: 'Wait as many seconds as the `Retry-After` header says, then send the request again.',
  },
]

/** A code of a message: `errorCode` in messages, `error_code` in callbacks. */
export const messageErrors: ErrorEntry[] = [
  {
    code: 125,
    title: 'Bot blocked',
    meaning: 'The subscriber has blocked the bot.',
    cause: 'The subscriber stopped the bot in Telegram.',
    remedy: 'Use another channel for this subscriber, for example as the next step of a cascade.',
  },
  {
    code: 149,
    title: 'No Telegram account',
    meaning: 'There is no Telegram account with this number.',
    cause: 'The subscriber does not use Telegram, or hides the number.',
    remedy: 'Use another channel.',
  },
  {
    code: 150,
    title: 'Bot not started',
    meaning: 'The subscriber has not started the bot.',
    cause:
      'A bot may write only to people who have pressed Start, and whose chat was uploaded with `POST /subscribers`.',
    remedy: 'Ask the subscriber to start the bot, then upload the chat.',
  },
  {
    code: 151,
    title: 'Telegram limit reached',
    meaning: 'Telegram refused the message because of its own limits.',
    cause: 'Too many messages of this bot or to this chat.',
    remedy: 'Send more slowly (`rate` and `rateTerm` of a dispatch), and try again later.',
  },
  {
    code: 152,
    title: 'Telegram refused the content',
    meaning: 'Telegram does not accept this text.',
    cause: 'A text that is empty or too long for Telegram.',
    remedy: 'Change the text.',
  },
  {
    code: 402,
    title: 'No funds for the step',
    meaning: 'The account could not pay for the message when it was to go out.',
    cause: 'A later step of a cascade reserves its price when it begins, and the budget or balance did not cover it.',
    remedy: 'Top up the balance or raise the budget.',
  },
  {
    code: 453,
    title: 'Expired before sending',
    meaning: 'The time of the message was over before it could be sent.',
    cause: '`ttl` or `localCompletionTime` passed while the message waited for its hours, its turn or its gateway.',
    remedy: 'Give the message more time, or wider `hours` and `days`.',
  },
  {
    code: 454,
    title: 'Stopped',
    meaning: 'You stopped the message.',
    cause: '`POST /message/stop`, or the stop of its dispatch.',
    remedy: 'Nothing to do. Send it again if it was stopped by mistake.',
  },
  {
    code: 455,
    title: 'No route',
    meaning: 'There is no gateway for this message.',
    cause: 'No gateway serves the channel, operator or country of the message.',
    remedy: 'The operator of the service connects a gateway (`tidings gateway add`). Until then, use another channel.',
  },
  {
    code: 456,
    title: 'Refused by the channel',
    meaning: 'The operator or messenger refused the message.',
    cause:
      'A sender name that was closed or denied, a content that the channel does not take, or a free text by WhatsApp to a subscriber who has not written within 24 hours.',
    remedy: 'Check the sender name and the content. By WhatsApp, use a template for the first message.',
  },
  {
    code: 601,
    title: 'Not delivered',
    meaning: 'The operator could not deliver the message, and gave no reason.',
    cause: 'The receipt of the operator says "undelivered".',
    remedy: 'Try again later, or use another channel.',
  },
  {
    code: 602,
    title: 'Unknown subscriber',
    meaning: 'The operator does not know the subscriber.',
    cause: 'The number is not in use.',
    remedy: 'Remove the number from your list.',
  },
  {
    code: 603,
    title: 'Subscriber absent',
    meaning: 'The telephone was switched off or out of reach.',
    cause: 'The operator tried until its time was over.',
    remedy: 'Try again later.',
  },
  {
    code: 604,
    title: 'Messages barred',
    meaning: 'The subscriber, or the contract of the subscriber, does not take such messages.',
    cause: 'A service is barred at the operator.',
    remedy: 'Use another channel.',
  },
  {
    code: 605,
    title: 'Telephone busy or full',
    meaning: 'The telephone was busy, or its memory is full.',
    cause: 'The telephone did not accept the message.',
    remedy: 'Try again later.',
  },
  {
    code: 606,
    title: 'Network failure',
    meaning: 'The network of the operator failed.',
    cause: 'A fault at the operator.',
    remedy: 'Try again later.',
  },
  {
    code: 607,
    title: 'Expired at the operator',
    meaning: 'The time that the operator had for the message was over.',
    cause: 'The subscriber was out of reach for the whole validity period.',
    remedy: 'Try again later, with a longer `ttl`.',
  },
  {
    code: 608,
    title: 'Rejected by the operator',
    meaning: 'The operator rejected the message after taking it.',
    cause: 'A filter or rule of the operator.',
    remedy: 'Check the text and the sender name; ask the operator of the service for the details.',
  },
  {
    code: 609,
    title: 'Deleted by the operator',
    meaning: 'The operator deleted the message.',
    cause: 'An action at the operator.',
    remedy: 'Send it again, or ask the operator of the service.',
  },
  {
    code: 610,
    title: 'Sender not accepted',
    meaning: 'The operator does not accept the sender name.',
    cause: 'The name is not registered with the operator, or was closed there.',
    remedy: 'Register the name for this operator.',
  },
  {
    code: 7060,
    title: 'Lifetime over',
    meaning: 'No receipt came within the lifetime of the message.',
    cause: 'The operator took the message and did not report a result within `ttl`, or within 25 hours.',
    remedy: 'The subscriber may have received it. Send it again only if a second copy does no harm.',
  },
  {
    code: 7401,
    title: 'Invalid number',
    meaning: 'The destination is not a valid telephone number.',
    cause: 'Not 5 to 15 digits, a length that its country does not have, or a Russian number outside every range.',
    remedy: 'Write the number in digits with its country code: `79160000001`.',
  },
  {
    code: 7402,
    title: 'Blacklisted number',
    meaning: "The number is on the company's blacklist.",
    cause: 'The subscriber wrote a stop word, or the number was put on the list with `PUT /recipients`.',
    remedy: 'Do not write to this number, or take it off the list if the subscriber agrees.',
  },
  {
    code: 7403,
    title: 'No sender for the operator',
    meaning: "The dispatch has no sender name for the number's operator.",
    cause: '`senderIds` lacks a name of this operator.',
    remedy: 'Add a sender name of each operator to `senderIds`.',
  },
  {
    code: 7404,
    title: 'Missing substitution',
    meaning: 'A placeholder of the text has no value for this recipient.',
    cause: '`substitutions` of the recipient lacks a name that the text uses as `{name}`.',
    remedy: 'Give a value for every placeholder.',
  },
  {
    code: 7405,
    title: 'Text refused',
    meaning: 'The final text is empty, too long, or not what the channel takes.',
    cause: 'An SMS over 10 parts, a FLASHCALL that is not 4 digits, a VOICECODE without a code of 4 to 8 digits.',
    remedy: 'Change the text, and look at the values that are filled in.',
  },
]

/** An error code that the verification widget shows on a page. The visitor can solve only problems with 1xx. */
export const widgetErrors: ErrorEntry[] = [
  {
    code: 110,
    title: 'Captcha not passed',
    meaning: 'The visitor is asked to try again, and to turn off a VPN or an ad blocker.',
    cause: 'The token of the captcha is missing, wrong, expired or was used before; with reCAPTCHA v3, a low score.',
    remedy:
      'Nothing, as long as it happens to single visitors. If every visitor fails, check that site key, secret and kind of captcha belong together (`tidings widget show`).',
  },
  {
    code: 130,
    title: 'Too many requests',
    meaning: 'The visitor is asked to wait, and sees for how long.',
    cause:
      "A limit is reached: codes or sessions for the number or from the visitor's network, or codes for the prefix of the number, the widget or the company.",
    remedy:
      'Wait, or end a block with `tidings verifier unblock`. If all visitors have one address, the reverse proxy hides theirs: set `TIDINGS_TRUSTED_PROXIES`.',
  },
  {
    code: 210,
    title: 'Insufficient balance',
    meaning: 'The visitor is told that codes cannot be sent now.',
    cause: 'The balance or the budget of the company does not cover the price of the code.',
    remedy: 'Top up the balance or raise the budget.',
  },
  {
    code: 230,
    title: 'Inactive sender name',
    meaning: 'The visitor is asked to choose another way to get the code.',
    cause: 'The sender name that the widget has for the channel is not approved, or was closed.',
    remedy: 'Register the name, or set another one with `tidings widget set --senders SMS=NAME`.',
  },
  {
    code: 310,
    title: 'Unknown widget',
    meaning: 'The visitor is told that verification is not set up.',
    cause:
      "The `widgetId` in `VerifyWidget.mount` is wrong, the widget was deleted, its company is disabled, another option of `mount` is wrong, or the page's origin is not in the widget's list.",
    remedy:
      "Compare the `widgetId` with `tidings widget list`, and the page's address with the origins (`tidings widget set --origins`). The console of the browser names wrong options.",
  },
  {
    code: 320,
    title: 'No key in widget/send',
    meaning: 'The visitor is told that the code was not sent.',
    cause: "The site's server called `POST /verifier/widget/send` without `key`.",
    remedy: 'Send the `key` that the widget gave to `sendAuthKey`: `{"key": "..."}`.',
  },
  {
    code: 321,
    title: 'No call of widget/send',
    meaning: 'The visitor is told that the site does not respond.',
    cause:
      "The site's server did not call `POST /verifier/widget/send` within 15 seconds, or the page gives no `sendAuthKey` and the widget is not for site builders.",
    remedy:
      "Look into the log of the site's server: does the key arrive, and does the server reach Tidings? For a page without a server: `tidings widget set --builder on`.",
  },
  {
    code: 330,
    title: 'Invalid API key',
    meaning: 'The visitor is told that the code was not sent.',
    cause:
      'The API key in `widget/send` is missing, unknown, deactivated or reissued, or it may not be used from the address of the server.',
    remedy: 'Check the key on the server, and its addresses, with `tidings key list`.',
  },
  {
    code: 331,
    title: 'API key of another type',
    meaning: 'The visitor is told that the code was not sent.',
    cause:
      'The API key in `widget/send` is not of the type VERIFIER, belongs to another company, or is a BUILDER_WIDGET key and the widget is not for site builders.',
    remedy: 'Make a key with `tidings key create --type VERIFIER` for the company of the widget.',
  },
  {
    code: 340,
    title: 'Captcha cannot be checked',
    meaning: 'The visitor is told that the robot check failed.',
    cause:
      'The provider of the captcha refuses the secret, the site key or the domain, its quota is used up, or it does not answer.',
    remedy:
      "Read the provider's own words with `tidings widget errors`, and correct `--captcha`, `--captcha-site-key` and `--captcha-secret`.",
  },
  {
    code: 341,
    title: 'Captcha not loaded',
    meaning: 'The visitor is told that the robot check did not load.',
    cause:
      "The browser could not load the provider's script within 15 seconds, or the script refuses the site key: a wrong key or kind of captcha, a Content-Security-Policy of the page, or a network that blocks the provider.",
    remedy:
      'Check the site key and the policy of the page. Where the provider is blocked, use our own captcha: `tidings widget set --captcha altcha`.',
  },
  {
    code: 350,
    title: 'sendAuthKey failed',
    meaning: 'The visitor is told that the code was not sent.',
    cause:
      "The page's function `sendAuthKey` threw an error, its promise was rejected, or the site's server gave an answer that is not a success: for example a wrong address.",
    remedy: "Look at the console and the network of the browser, and at the log of the site's server.",
  },
]

export const errorOf = (code: number): ErrorEntry =>
  [...answerErrors, ...messageErrors].find(entry => entry.code === code)!

/** The anchor of a code on the page. */
export const helpAddress = (code: number) => `/docs/errors#${code}`
