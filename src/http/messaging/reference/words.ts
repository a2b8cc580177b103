import { channelTypes } from '../../../base/channel-types.ts'
import type { Words } from '../../reference/complete.ts'

/**
 * What the reference of the messaging API says beyond the schemas of the routes. Examples work in the demo world.
 * Defaults of body fields stand in words: of fields with a `default`, openapi-typescript makes required ones.
 */

const to = { destination: '79160000001' }
const uuid = '01a1ddc9-5d43-75d6-92c4-0cba6653d834'
const noBody = { empty: { summary: 'No body is needed', value: {} } }
const repeat = 'Repeat the parameter for several.'

export const messagingWords: Words = {
  notAuthenticated: [4010, 4012, 4013],

  samples: { base: '/api/v1', baseVariable: 'TIDINGS_API', secretVariable: 'TIDINGS_KEY' },

  tags: {
    Messages: 'Single messages and cascades: sending, finding, stopping.',
    Dispatches: 'One text to many recipients: create, add recipients, start.',
    'Sender names': 'Names under which the company sends, and their review.',
    Templates: 'Reviewed texts; a message that matches one gets its traffic type.',
    Verification: 'Codes that confirm a phone number: send a code, check the code that the subscriber typed.',
    'Flash calls': 'What became of codes brought by a call.',
    Subscribers: 'Addresses of subscribers in bots and applications.',
    Connection: 'Whether the service is there.',
    Account: 'The balance of the company.',
    References: 'Lists that programs may need.',
    Callbacks: 'What the service sends to your own server.',
  },

  operations: {
    'GET /ping': { operationId: 'ping', description: 'Answers `PONG`. Needs no key.' },
    'GET /balance': {
      operationId: 'getBalance',
      description:
        'The balance of the company by currency. Amounts that are reserved for messages under way are not subtracted. A postpaid company may be below zero.',
      errors: [4030],
    },
    'GET /references/error-codes': { operationId: 'listErrorCodes', errors: [4030] },
    'POST /message': {
      operationId: 'sendMessages',
      description:
        'Sends one message, or an array of 1 to 1000. Each message is accepted or refused on its own, and the answer has one item for each, in the same order. If all are refused, the request is refused with the error of the first. An accepted message is stored and its price is reserved before the answer leaves.',
      examples: {
        sms: {
          summary: 'An SMS',
          value: {
            channelType: 'SMS',
            senderName: 'ROMASHKA',
            ...to,
            content: 'Your order 17 is ready.',
            externalMessageId: 'order-17',
          },
        },
        several: {
          summary: 'Several messages at once',
          value: [
            { channelType: 'SMS', senderName: 'ROMASHKA', ...to, content: 'Your order 17 is ready.' },
            { channelType: 'SMS', senderName: 'sms_promo', ...to, content: 'Trying without a name of my own' },
          ],
        },
        callback: {
          summary: 'With a lifetime, tags, a short link and callbacks',
          value: {
            channelType: 'SMS',
            senderName: 'ROMASHKA',
            ...to,
            content: 'See https://shop.example.com/orders/17',
            ttl: 3600,
            hours: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23],
            tags: ['orders'],
            shortUrl: true,
            callbackUrl: 'https://shop.example.com/tidings',
            callbackEvents: ['sent', 'delivered', 'click'],
          },
        },
        viber: {
          summary: 'VIBER, with an image and a button',
          value: {
            channelType: 'VIBER',
            senderName: 'ROMASHKA',
            ...to,
            content: {
              contentType: 'text',
              text: 'Your order is ready',
              image: 'https://shop.example.com/order.png',
              button: { text: 'See it', url: 'https://shop.example.com/orders/17' },
            },
          },
        },
        whatsapp: {
          summary: 'WHATSAPP, a text',
          value: {
            channelType: 'WHATSAPP',
            senderName: 'ROMASHKA',
            ...to,
            content: { contentType: 'text', text: 'Your order is ready', footer: { text: 'Ромашка' } },
          },
        },
        whatsappTemplate: {
          summary: "WHATSAPP, a template by the messenger's own name",
          value: {
            channelType: 'WHATSAPP',
            senderName: 'ROMASHKA',
            ...to,
            content: { contentType: 'template', templateId: 'order_ready', parameters: ['Anna', '17'] },
          },
        },
        whatsappCode: {
          summary: 'WHATSAPP, a code',
          value: {
            channelType: 'WHATSAPP',
            senderName: 'ROMASHKA',
            ...to,
            content: { contentType: 'authentication', code: '4711' },
          },
        },
        telegram: {
          summary: 'TELEGRAM',
          value: {
            channelType: 'TELEGRAM',
            senderName: 'romashka_bot',
            ...to,
            content: { contentType: 'text', text: 'Your order is ready' },
          },
        },
        vk: {
          summary: 'VK',
          value: { channelType: 'VK', senderName: 'ROMASHKA', ...to, content: 'Your order is ready' },
        },
        flashcall: {
          summary: 'FLASHCALL: a code in the last digits of the calling number',
          value: { channelType: 'FLASHCALL', senderName: 'shop', ...to, content: '4711' },
        },
        voicecode: {
          summary: 'VOICECODE: a voice reads the code',
          value: {
            channelType: 'VOICECODE',
            senderName: 'voicecode',
            ...to,
            content: { contentType: 'text', text: 'Your code is 1-2-3-4' },
          },
        },
        speech: {
          summary: 'TEXT_TO_SPEECH: a voice reads the text',
          value: {
            channelType: 'TEXT_TO_SPEECH',
            senderName: '74950000001',
            ...to,
            content: { contentType: 'tts', text: 'Your order is ready', sex: 'female', speed: 1.2 },
          },
        },
        weasy: {
          summary: 'WEASY',
          value: { channelType: 'WEASY', senderName: 'ROMASHKA', ...to, content: 'Your order is ready' },
        },
        push: {
          summary: 'PUSH to a browser or application',
          value: {
            channelType: 'PUSH',
            senderName: 'ROMASHKA',
            ...to,
            content: { title: 'Ромашка', text: 'Your order is ready', url: 'https://shop.example.com/orders/17' },
          },
        },
      },
      errors: [4020, 4030, 4290, 7401, 7402, 7405],
    },
    'GET /message': { operationId: 'findMessages', errors: [4030, 4290] },
    'GET /message/{id}': {
      operationId: 'getMessage',
      description:
        'Reads one message by its `messageUuid`, or else the newest one with that `externalMessageId`. The path takes either.',
      errors: [4030],
    },
    'POST /message/cascade': {
      operationId: 'sendCascades',
      description:
        'Sends messages that go on to another channel: one cascade of 2 to 10 steps, or an array of up to 1000. The next step goes out when the step before it failed, or when its `ttl` passed without its condition being met. The answer is that of `POST /message`, with the id of the first step.',
      examples: {
        viberThenSms: {
          summary: 'VIBER first, and SMS if that was not delivered within a minute',
          value: {
            ...to,
            externalMessageId: 'order-18',
            cascade: [
              {
                channelType: 'VIBER',
                senderName: 'ROMASHKA',
                content: 'Your order 18 is ready.',
                condition: 'not_delivered',
                ttl: 60,
              },
              { channelType: 'SMS', senderName: 'ROMASHKA', content: 'Your order 18 is ready.' },
            ],
          },
        },
      },
      errors: [4020, 4030, 4290, 7401, 7402, 7405],
    },
    'POST /message/stop': {
      operationId: 'stopMessages',
      description:
        'Stops up to 10,000 messages. Each item has a `code`. 200: the message will not go out. 202: a worker has the message and checks once more before sending it. 403: it was handed over or is final. 404: there is no such message. Stopping the first message of a cascade stops the cascade.',
      examples: { one: { summary: 'One message', value: { uuids: [uuid] } } },
      errors: [4030],
    },
    'POST /dispatch': {
      operationId: 'createDispatch',
      description:
        'Creates a dispatch without recipients. Add them with `POST /dispatch/{id}/messages`, then start it.',
      examples: {
        sms: {
          summary: 'One text, filled in for each recipient',
          value: {
            name: 'Orders of today',
            channelType: 'SMS',
            senderName: 'ROMASHKA',
            text: 'Hello, {name}! Your order {order} is ready.',
            rate: 100,
            rateTerm: 'second',
          },
        },
        cascade: {
          summary: 'VIBER first, then SMS',
          value: {
            name: 'Orders of today',
            cascade: [
              { channelType: 'VIBER', senderName: 'ROMASHKA', content: 'Hello, {name}!', ttl: 600 },
              { channelType: 'SMS', senderName: 'ROMASHKA', content: 'Hello, {name}!' },
            ],
          },
        },
      },
      errors: [4030, 4290],
    },
    'POST /dispatch/{id}/messages': {
      operationId: 'addRecipients',
      description:
        'Adds one recipient, or an array of 1 to 100,000, to a dispatch that has not been started. A recipient who cannot be served does not fail the request: the item has an `errorCode` in place of a `messageUuid`.',
      examples: {
        two: {
          summary: 'Two recipients',
          value: [
            { ...to, substitutions: { name: 'Anna', order: 17 } },
            { destination: '+7 903 000-00-01', substitutions: { name: 'Boris', order: 18 } },
          ],
        },
      },
      errors: [4030, 4031],
    },
    'POST /dispatch/{id}/start': {
      operationId: 'startDispatch',
      description:
        'Starts a dispatch, once. The price of all its messages is reserved; if the account cannot pay for them, nothing changes.',
      examples: noBody,
      errors: [4020, 4030, 4031],
    },
    'POST /dispatch/{id}/stop': {
      operationId: 'stopDispatch',
      description: 'Stops a dispatch for good: messages that no operator has yet become `unsent` (454).',
      examples: noBody,
      errors: [4030, 4031],
    },
    'GET /dispatch': {
      operationId: 'listDispatches',
      description: 'Lists the dispatches of the company, newest first, including dispatches of the partner API.',
      errors: [4030],
    },
    'GET /dispatch/{id}': {
      operationId: 'getDispatch',
      description: 'Reads a dispatch, with counts of its messages and parts by status.',
      errors: [4030],
    },
    'POST /flashcall-conversion': {
      operationId: 'reportFlashcall',
      examples: {
        verified: {
          summary: 'The subscriber typed the code',
          value: { messageUuid: uuid, result: 'NUMBER_VERIFIED', code: '4711' },
        },
      },
      errors: [4030, 4040],
    },
    'POST /verifier/send': {
      operationId: 'sendCode',
      description:
        'Sends a code to a mobile number. `gatewayId` is the id of a verifier (`tidings verifier create` makes one); it says how long codes are and how long they are good. The answer has the `uuid` to check the code with, which is the `messageUuid` of the message as well. Where the verifier falls back to other channels, the same code goes there after a failure or some seconds without delivery.',
      examples: {
        sms: {
          summary: 'A code by SMS',
          value: { channelType: 'SMS', ...to, gatewayId: 'ab2cd3' },
        },
      },
      errors: [4020, 4030, 4040, 4290, 7402],
    },
    'POST /verifier/check': {
      operationId: 'checkCode',
      description:
        'Checks a code that was typed. The answer is always 200: `CONFIRMED`, `WRONG_CODE`, `EXPIRED` (the lifetime is over, or the tries are used up) or `NOT_FOUND`. A confirmed code is answered with `CONFIRMED` again until its lifetime ends.',
      examples: { typed: { summary: 'What the subscriber typed', value: { uuid, code: '418305' } } },
      errors: [4030],
    },
    'POST /verifier/widget/send': {
      operationId: 'sendWidgetCode',
      description:
        "Sends the code that a visitor asked for in the widget. `key` is what the widget passed to the page's `sendAuthKey`. However often it is called, each code that the visitor asked for is sent once. A call that is refused marks the visitor's session, and the widget shows the number of the error.",
      examples: {
        visitor: { summary: 'The key of a visitor', value: { key: 'k2m9x4p7q8rs.9cVqfYbT2n0eR4kWmZs1uA7xJdLpHg3o' } },
      },
      errors: [320, 4020, 4030, 4040, 4090, 4290, 7402],
    },
    'POST /verifier/widget/check': {
      operationId: 'checkWidget',
      description:
        'Tells whether a visitor confirmed the number. The answer is always 200: `WAITING` until the right code was typed, then `CONFIRMED` with the number; `EXPIRED` when the session is over; `NOT_FOUND`. Compare `destination` with the number that your page is about: a visitor may have confirmed another one. A form of a site builder sends `result` in place of `key`.',
      examples: {
        visitor: { summary: 'The key of a visitor', value: { key: 'k2m9x4p7q8rs.9cVqfYbT2n0eR4kWmZs1uA7xJdLpHg3o' } },
      },
      errors: [4030],
    },
    'POST /subscribers': {
      operationId: 'uploadSubscribers',
      examples: {
        bot: {
          summary: 'Two chats of a bot',
          value: {
            channelType: 'TELEGRAM',
            senderName: 'romashka_bot',
            subscribers: [
              { ...to, externalId: '500100200' },
              { destination: '+7 903 000-00-01', externalId: 500100201 },
            ],
          },
        },
      },
      errors: [4030],
    },
    'POST /sender-names': {
      operationId: 'createSenderName',
      examples: {
        viber: {
          summary: 'A name for VIBER',
          value: {
            senderName: 'ROMASHKA',
            channelType: 'VIBER',
            commonType: 'COMMON',
            brand: 'TELE2',
            dateFrom: '2026-01-01T00:00:00+03:00',
          },
        },
      },
      errors: [4030],
    },
    'GET /sender-names': {
      operationId: 'listSenderNames',
      description:
        'Lists the sender names of the company that fit the filters, oldest first. Every filter may be repeated.',
      errors: [4030],
    },
    'GET /sender-names/{id}': { operationId: 'getSenderName', description: 'Reads one sender name.', errors: [4030] },
    'PUT /sender-names/{id}': {
      operationId: 'updateSenderName',
      description:
        'Changes the fields that are sent. `senderName` and `commonType` can change only while the name is under our own review or rejected, `dateFrom` until it is approved, `dateTo` until it is closed. A closing date can be moved and not removed.',
      examples: { close: { summary: 'Close the name at the end of 2034', value: { dateTo: '2035-01-01T00:00:00Z' } } },
      errors: [4030],
    },
    'POST /templates': {
      operationId: 'createTemplate',
      examples: {
        sms: {
          summary: 'A text for SMS',
          value: {
            channelType: 'SMS',
            templateType: 'TRANSACT',
            pattern: '%w, your order %d is ready. %w{1,5}',
          },
        },
        whatsapp: {
          summary: "A template of the messenger's own",
          value: {
            channelType: 'WHATSAPP',
            templateType: 'TRANSACT',
            pattern: 'Hello, %w! Your order %d is ready.',
            content: { name: 'order_ready', language: 'en' },
          },
        },
      },
      errors: [4030],
    },
    'GET /templates': {
      operationId: 'listTemplates',
      description:
        'Lists the templates of the company that fit the filters, oldest first. Every filter may be repeated.',
      errors: [4030],
    },
    'GET /templates/{id}': { operationId: 'getTemplate', description: 'Reads one template.', errors: [4030] },
    'PUT /templates/{id}': {
      operationId: 'updateTemplate',
      description:
        'Changes the fields that are sent. Reviewed fields (`templateType`, `pattern`, `senderNameId`, `content`) can change until the operator has it, `dateFrom` until the approval, `dateTo` until the template is closed. Null removes `senderNameId`, `content` or `dateTo`.',
      examples: { close: { summary: 'Close it at the end of 2034', value: { dateTo: '2035-01-01T00:00:00Z' } } },
      errors: [4030],
    },
  },

  components: {
    Message: 'getMessage.200',
    Price: 'getMessage.200.price',
    SenderName: 'createSenderName.201',
    Dispatch: 'getDispatch.200',
    Counts: 'getDispatch.200.messages',
    Template: 'createTemplate.201',
  },

  fields: {
    accepted: 'How many were accepted.',
    base: 'Recipients submitted, accepted or not.',
    body: 'The sender name, as JSON.',
    brand: 'The operator: MTS, BEELINE, MEGAFON or TELE2.',
    'Message.brand': 'The operator of the number: MTS, BEELINE, MEGAFON, TELE2, or the name of another one.',
    'listSenderNames.brand': `Only names of these operators. ${repeat}`,
    'createTemplate.brand': 'Which registration of `senderName`, where there are several: by its operator.',
    'updateTemplate.brand': 'Which registration of `senderName`, where there are several: by its operator.',
    'Template.brand': 'The operator of the sender name that the template is bound to. Null: not bound.',
    button: 'A button below the text.',
    buttons: 'Up to 10 buttons, each with `url` or `phone`.',
    callback_event: 'The event that is reported.',
    callbackEvents: 'Which events are sent to `callbackUrl`. Without it: `delivered`. An empty array means the same.',
    callbackUrl:
      'Where the service reports what becomes of the message: http or https, with login and password if you wish. See the callbacks below.',
    cascade: 'The steps, in their order: 2 to 10.',
    'createDispatch.cascade': 'All steps, in place of `channelType`, `senderName` and `text`.',
    cascadeMessageUuid: 'The first message of the cascade. Null: not of a cascade.',
    cascadeStep: 'Which step of the cascade the message is, from 1. Null: not of a cascade.',
    cascade_message_uuid: 'The first message of the cascade. Absent outside of cascades.',
    'findMessages.cascade_message_uuid': 'Only the steps of this cascade, named by its first message.',
    cascade_step: 'Which step of the cascade the message is, from 1. Absent outside of cascades.',
    channelType: 'The channel. It decides the form of `content`.',
    channel_type: 'The channel of the message.',
    'findMessages.channel_type': `Only messages of these channels. ${repeat}`,
    'listSenderNames.channel_type': `Only names of these channels. ${repeat}`,
    'listTemplates.channel_type': `Only templates of these channels. ${repeat}`,
    click_time: 'When the link was followed.',
    code: 'What became of it, as an HTTP status.',
    'Content_WHATSAPP_authentication.code': 'The code, up to 15 characters.',
    'StepContent_WHATSAPP_authentication.code': 'The code; it may have placeholders.',
    'listErrorCodes.code': 'The code.',
    'reportFlashcall.code': 'What the subscriber typed.',
    'checkCode.code': 'What the subscriber typed.',
    'checkCode.uuid': 'The `uuid` that the answer of `/verifier/send` had.',
    'checkCode.status': 'What the code is worth.',
    'sendWidgetCode.key': 'The key that the widget passed to `sendAuthKey`.',
    'sendWidgetCode.messageUuid': 'The message with the code.',
    'checkWidget.key': 'The key that the widget passed to `sendAuthKey` and to `onSuccess`.',
    'checkWidget.result': 'The field `tidings-verification` of a form of a site builder, in place of `key`.',
    'checkWidget.status': 'Where the visitor stands.',
    'checkWidget.destination': 'The number that was confirmed.',
    'sendCode.uuid': 'To check the code with. It is the `messageUuid` of the message as well.',
    'sendCode.channelType': "How the code is brought; one of the verifier's channels.",
    'sendCode.substitutions': "Values for further placeholders of the verifier's text.",
    clientIp: 'The address of the person who asked for the code, so that the limits for addresses can act.',
    gatewayId: 'The id of the verifier: 6 characters.',
    lang: "The language of the text, such as `en`. Without it: English, or the verifier's first text.",
    'Error.code': 'A stable number. `/docs/errors` explains every one.',
    commonType:
      'What the name is registered for: PROMO (advertising, needs a document), COMMON, MULTISIGNATURE; INTERNATIONAL_VERIFY and INTERNATIONAL_COMMON for numbers outside Russia.',
    condition:
      'When the next step goes out: the step was not delivered, or not read. Without it: `not_delivered`. The last step has none.',
    content: 'What the message says, in the form of its channel.',
    'Message.content': 'The text.',
    'findMessages.content': 'Only messages with these words in the text, in any case.',
    'createTemplate.content': "For WHATSAPP: the messenger's own template, which goes out in place of a free text.",
    'updateTemplate.content': "For WHATSAPP: the messenger's own template. Null removes it.",
    'Template.content': "The messenger's own template. Null: none.",
    content_nor: 'Only messages without these words in the text, in any case.',
    contentType: 'The kind of the content.',
    counteragentInn: 'The tax number of the company.',
    counteragentName: 'The legal name of the company.',
    country: 'The country of the number, by its name.',
    countryCode: 'The country of the sender name that the template is bound to. Null: not bound.',
    'createTemplate.countryCode': 'Which registration of `senderName`, where there are several: by its country.',
    'updateTemplate.countryCode': 'Which registration of `senderName`, where there are several: by its country.',
    countryId: 'The country of the name. 1 is Russia, the default.',
    'findMessages.country_code': 'Only messages to numbers of this country, such as `RU`.',
    'listSenderNames.country_code': `Only names for these countries, such as \`RU\`. ${repeat}`,
    created: 'When the dispatch was created.',
    createdAt: 'When it was created.',
    createdTime: 'When the message was accepted.',
    currency: 'The currency, as ISO 4217 writes it.',
    data: 'Values for the application, up to 4096 characters as JSON and 20 levels deep.',
    dateFrom: 'From when it is valid.',
    'createTemplate.dateFrom': 'From when the template is valid. Without it: from now on.',
    dateTo: 'When it is closed. Null: open-ended.',
    days: 'Weekdays on which it may be sent: 1 (Monday) to 7 (Sunday). An empty array means every day.',
    'Message.days': 'Weekdays on which it may be sent. Null: every day.',
    delivered: 'Delivered.',
    description: 'A comment for the people who review the name.',
    'listErrorCodes.description': 'What the code means.',
    destination:
      'The telephone number in digits with its country code. Spaces, dashes, brackets and a leading + are removed. Ten digits that begin with 9 and have no + are a Russian number without its 7.',
    'Message.destination': 'The number of the subscriber, of an inbound message too.',
    'findMessages.destination': `Only messages to these numbers, in any spelling. ${repeat}`,
    direction: 'outbound: you to the subscriber. inbound: the subscriber to you.',
    'findMessages.direction': `Which way: \`outbound\` (without the filter) or \`inbound\`. ${repeat}`,
    dispatch: '`true`: only messages of dispatches. `false`: only single messages.',
    dispatchId: 'The dispatch.',
    'Message.dispatchId': 'The dispatch of the message. Null: a single message.',
    dispatchName: 'The name of the dispatch.',
    dispatch_id: `Only messages of these dispatches. ${repeat}`,
    documentIds: 'Documents of the company that support the name, by their ids.',
    error: 'Why the message was refused.',
    errorCode: 'Why it failed. `/docs/errors` explains every code.',
    'Message.errorCode': 'Why the message failed. Null: it did not. `/docs/errors` explains every code.',
    error_code: 'Why the message failed. Absent if it did not. `/docs/errors` explains every code.',
    errors: 'Whether any item was refused.',
    externalId: 'Where the channel finds the subscriber: the id of the chat with the bot, or a push subscription.',
    externalMessageId: 'Your own id of the message, up to 100 characters. It may be used twice.',
    external_message_id: 'Your own id of the message, if you gave one.',
    'findMessages.external_message_id': `Only messages with these ids of your own. ${repeat}`,
    fee: 'What the name costs a month. Null: nothing, or not approved yet.',
    file1: 'A document: PDF, JPG or PNG, at most 10 MB.',
    file2: 'Another document; and so on up to `file10`.',
    final: 'Whether the price is final. While false, it can still change.',
    footer: 'A line below the text.',
    header: 'A line above the text.',
    hours: 'Hours in which it may be sent: 0 to 23. An empty array means every hour.',
    'Message.hours': 'Hours in which it may be sent. Null: every hour.',
    id: 'The id that later requests use.',
    'getMessage.id': 'The `messageUuid`, or your own `externalMessageId`.',
    'Idempotency-Key':
      'Makes a repeat count once: within 24 hours the same request with the same key gets the first answer again. Up to 255 printable ASCII characters.',
    image: 'The address of an image.',
    invoicedParts: 'How many parts are paid.',
    item: 'The message, in the form of `GET /message`.',
    items: 'The page.',
    'sendMessages.items': 'One item for each message, in the same order.',
    'sendCascades.items': 'One item for each cascade, in the same order.',
    'stopMessages.items': 'One item for each message, in the same order.',
    language: 'The language of the template at the messenger, such as `en`.',
    localCompletionTime:
      'Not after this moment, as `YYYY-MM-DD hh:mm:ss`: not before `localSendTime`, at most 70 days from now. A message not sent by then is `unsent` (453).',
    localSendTime:
      'Not before this moment, as `YYYY-MM-DD hh:mm:ss`: from 12 hours ago to 7 days from now. Absent: at once.',
    managerComment: 'What staff said in the review. Null: nothing.',
    message: 'The text; of a cascade, that of the first step.',
    messageUuid: 'The message.',
    message_uuid: 'The message.',
    'findMessages.message_uuid': `Only these messages, by our id or by yours. ${repeat}`,
    messages: 'Counted in messages.',
    msg: 'One sentence for people. Of a wrong field it begins with the path of the field.',
    name: 'The name, for people.',
    'createTemplate.name': "The template's own name at the messenger.",
    'updateTemplate.name': "The template's own name at the messenger.",
    'Template.name': "The template's own name at the messenger.",
    page: 'Which page, from 1.',
    parameters: 'Values for the places of the template, in their order.',
    parts: 'How many parts the message has.',
    'Dispatch.parts': 'Counted in parts.',
    pattern:
      'The text. `%w` stands for one word, `%w{1,n}` for up to n words, `%d` for a number, `%d{1,n}` for up to n digits.',
    per_page: 'How many on a page.',
    phone: 'The number that the button calls.',
    price: 'The price of the message.',
    price_time: 'When the price was set.',
    rate: 'The most parts in each `rateTerm`.',
    rateTerm: 'second, minute, hour or day. A number alone means that many parts a minute.',
    readStatus: 'read, or unread when the lifetime passed without a reading. Null: not known.',
    readStatusTime: 'When that became known. Null: not yet.',
    ready_to_stop: '`true`: only messages that wait and can be stopped.',
    region: 'The region of the number.',
    rejected: 'How many were rejected: no number, or an `externalId` that is empty or too long.',
    rejectedAt: 'When staff rejected it. Null: they did not.',
    result: 'NUMBER_VERIFIED: the subscriber typed the right code. WRONG_CODE: a wrong one.',
    root: '`true`: no later steps of cascades. `false`: only these.',
    senderName:
      'The name that the subscriber sees. For SMS, VIBER and WHATSAPP an approved name of the company; `sms_promo` may be used for trying SMS.',
    'Message.senderName': 'The name that the subscriber sees.',
    'SenderName.senderName': 'The name that the subscriber sees.',
    'createSenderName.senderName':
      'The name: for SMS up to 11 Latin letters, digits and signs, for VIBER up to 28, else up to 64.',
    'updateSenderName.senderName': 'The new name.',
    'createTemplate.senderName':
      'In place of `senderNameId`: the sender name that the template is bound to, by its name.',
    'updateTemplate.senderName':
      'In place of `senderNameId`: the sender name that the template is bound to, by its name.',
    'Template.senderName': 'The sender name that the template is bound to. Null: it serves every name of its channel.',
    'uploadSubscribers.senderName': 'The bot or application.',
    senderNameId: 'The sender name that the template is bound to. Without it, it serves every name of its channel.',
    sender_name: `Only these sender names. ${repeat}`,
    sending: 'Waiting.',
    sendingMethod:
      'How the message was made: API, DISPATCH, UI, VERIFIER_API or VERIFIER_WIDGET. Null: an inbound message.',
    sending_method: `Only messages made in these ways. ${repeat}`,
    sent: 'With the operator, without a result yet.',
    sentTime: 'When the operator took the message. Null until then.',
    sex: 'The voice: male or female.',
    shortUrl: 'Whether links in the text become short ones, whose clicks are counted. Without it: `false`.',
    short_url: 'The short link.',
    sort: 'The order. `-` puts the newest first.',
    source: 'Which API created the dispatch.',
    specialContent: 'The content as it was sent, when it is more than a text. Null: a text alone.',
    speed: 'How fast the voice speaks: 0.5 to 2.',
    status: 'The status now.',
    'Message.status':
      'sending (waiting), sent, delivered, undelivered (failed after sending), unsent (failed before), inbound_sent.',
    'Dispatch.status': 'created, sending, stopped or completed.',
    'SenderName.status':
      'Where the review is: DRAFT, PRE_REVIEW, INTERNAL_REVIEW, EXTERNAL_REVIEW, AWAITING, then APPROVED; or REJECTED, DENIED, CLOSED. Only an APPROVED name sends.',
    'Template.status': 'Where the review is, as of sender names. Only an APPROVED template acts.',
    'findMessages.status': `Only messages in these statuses. ${repeat}`,
    'listDispatches.status': 'Only dispatches in this status.',
    'listSenderNames.status': `Only names in these statuses. ${repeat}`,
    'listTemplates.status': `Only templates in these statuses. ${repeat}`,
    statusTime: 'When the status became what it is.',
    status_time: 'When the status became what it is.',
    subscribers: 'The subscribers: 1 to 10,000.',
    substitutions: 'Values for the placeholders of the text, by name: texts, numbers or truth values.',
    suspendReason: 'Why the name is suspended. Absent if no reason was given.',
    suspended: 'Whether traffic under the name is stopped.',
    tags: 'Labels of your own: up to 100, each 1 to 100 letters, digits and `_`.',
    'findMessages.tags': `Only messages with any of these tags. ${repeat}`,
    templateId:
      'The template: a number is the id that `POST /templates` answered, a text its own name at the messenger.',
    'Message.templateId': 'The registered template that the text matched. Null: none.',
    'findMessages.template_id': `Only messages that matched these templates. ${repeat}`,
    'listTemplates.template_id': `Only these templates. ${repeat}`,
    templateType: 'The traffic type that matching messages get: SERVICE, TRANSACT, AUTHORIZE or PROMO.',
    template_type: `Only templates of these types. ${repeat}`,
    text: 'The text.',
    'createDispatch.text': 'The text. A placeholder is written as {name}. Required unless there is a cascade.',
    'Content_VOICECODE.text': 'A text with a code of 4 to 8 digits, together or apart.',
    time_from: 'Only messages sent at or after this moment, or given up unsent since then.',
    time_to: 'Only messages sent at or before this moment, or given up unsent until then.',
    title: 'The title above the text.',
    total: 'How many there are in all.',
    'findMessages.total': 'How many were found: exact up to 10,000, and never more.',
    totalParts: 'How many parts the text takes.',
    totalPrice: 'The price of all parts.',
    trafficCenterId: 'The traffic center to which it belongs. Null: none.',
    trafficCenterName: 'The name of the traffic center.',
    'Message.useLocalTime': "Whether times, hours and days are on the subscriber's clock. Null: an inbound message.",
    'Dispatch.useLocalTime': "Whether times, hours and days are on the subscriber's clock.",
    'Message.shortUrl': 'Whether links in the text became short ones. Null: an inbound message.',
    'Message.callbackEvents': 'Which events are sent to `callbackUrl`. Null: none.',
    'Message.callbackUrl':
      'Where the service reports what becomes of the message, with `***` in place of a password. Null: nowhere.',
    trafficType:
      'What the message is about: PROMO, SERVICE, TRANSACT or AUTHORIZE. Without it: that of the matching template, else PROMO. It decides price and priority.',
    traffic_center_id: `Only messages of these traffic centers. ${repeat}`,
    traffic_type: `Only messages of these traffic types. ${repeat}`,
    ttl: 'Seconds, counted from acceptance or from `localSendTime`; then the final status is set. 60 to 86400, for FLASHCALL and VOICECODE from 30. Without it: 25 hours.',
    'Message.ttl': 'The lifetime in seconds that was asked for. Null: 25 hours.',
    ...Object.fromEntries(
      ['CascadeStep', 'DispatchStep'].flatMap(step =>
        channelTypes.map(channel => [
          `${step}_${channel}.ttl`,
          'How many seconds the step has. Without it: `3600`. The last step has none.',
        ]),
      ),
    ),
    undelivered: 'Failed after sending.',
    unsent: 'Failed before sending.',
    url: 'The address that is opened.',
    'Event_click.url': 'The link as it was written.',
    useLocalTime:
      "Whether times, hours and days are on the subscriber's clock. `false`: on that of Moscow. Without it: `true`.",
    uuids: 'The messages, by `messageUuid`: 1 to 10,000.',
  },
}
