import type { Words } from '../reference/complete.ts'

/** What the reference of the partner API says beyond the schemas of the routes. Examples work in the demo world. */

const brandWords = 'The operator: MTS, BEELINE, MEGAFON or TELE2.'
const letters = [
  { destination: '79160000001', substitutions: { name: 'Anna', order: 17 } },
  { destination: '+7 903 000-00-01', substitutions: { name: 'Boris', order: 18 } },
]

export const partnerWords: Words = {
  notAuthenticated: [4010, 4012],

  samples: { base: '/partner/v1', baseVariable: 'TIDINGS_PARTNER_API', secretVariable: 'TIDINGS_TOKEN' },

  tags: {
    Token: 'Logging in: login and password for a token that lives 24 hours.',
    Companies: 'Client companies of the partner, each with an optional monthly budget.',
    'Company documents': 'Files that a company shows for its sender names.',
    Senders: 'Names under which a company sends, one registration for each operator, and their review.',
    Dispatches: 'Bulk sends: created and priced first, sent after the start.',
    Messages: 'What became of every recipient of a dispatch.',
    Recipients: 'The blacklist: numbers to which a company must not write.',
    Prices: 'Tariffs of messages and monthly fees of sender names.',
    Callbacks: 'What the service sends to your own server.',
  },

  operations: {
    'POST /auth/token': {
      operationId: 'getToken',
      description:
        'Exchanges login and password for a token. The token lives for 24 hours, or until the password is changed. After ten wrong logins the answer is 429 for a while, even with the right password.',
      examples: {
        demo: {
          summary: 'The demo partner (put in the password that the first start printed)',
          value: { login: 'demo', password: 'the password printed at the first start' },
        },
      },
      errors: [4012, 4290],
    },
    'POST /company': {
      operationId: 'createCompany',
      description:
        'Creates a client company of the partner. `budget` is the most that it may spend in a calendar month; without it there is no limit.',
      examples: {
        legal: {
          summary: 'A legal entity with a monthly budget',
          value: {
            company: {
              name: 'Harbour Books',
              counteragentType: 'LEGAL',
              counteragentInn: '7712345678',
              counteragentAddress: '1 Quay Street',
              counteragentKpp: '771201001',
            },
            budget: 15000.5,
          },
        },
        individual: {
          summary: 'A sole proprietor without a limit',
          value: { company: { name: 'Anna Sewing', counteragentType: 'INDIVIDUAL', counteragentInn: '771234567890' } },
        },
      },
    },
    'GET /company': { operationId: 'listCompanies', description: 'Lists the companies of the partner by `companyId`.' },
    'GET /company/{id}': {
      operationId: 'getCompany',
      description: 'Reads one company, with the fields set at creation and by later changes.',
    },
    'PUT /company/{id}': {
      operationId: 'updateCompany',
      description:
        'Changes the fields that are sent and leaves the others. `budget: null` lifts the limit. A `DISABLED` company stays readable; it cannot create or start dispatches, its running dispatches wait, and its API keys answer 4010.',
      examples: {
        budget: {
          summary: 'A new budget and address',
          value: { budget: 50000, actualAddress: '1 Quay Street' },
        },
      },
    },
    'POST /company/{id}/documents': {
      operationId: 'uploadDocument',
      description:
        'Stores a PDF, JPG or PNG file of at most 10 MB, sent in the form part `file`. The first bytes of the file decide its kind, not its name.',
      examples: { letter: { summary: 'A letter', value: { file: 'letter.pdf' } } },
    },
    'GET /company/{id}/documents': {
      operationId: 'listDocuments',
      description: 'Lists the documents of the company, oldest first.',
    },
    'POST /senders': {
      operationId: 'createSender',
      description:
        'Registers a sender name for one company, channel and operator. To send to all four operators, register the name four times. The name is a DRAFT at first and is reviewed next; it can be used once it is APPROVED.',
      examples: {
        sms: {
          summary: 'A name for SMS to MTS',
          value: {
            companyId: 1,
            senderName: 'ROMASHKA',
            channelType: 'SMS',
            commonType: 'COMMON',
            brand: 'MTS',
            dateFrom: '2026-01-01T00:00:00+03:00',
          },
        },
      },
      errors: [4040],
    },
    'GET /senders': {
      operationId: 'listSenders',
      description: 'Lists all sender names of a company that fit the filters. Every filter may be repeated.',
      errors: [4040],
    },
    'GET /senders/{id}': { operationId: 'getSender', description: 'Reads one sender name.' },
    'PUT /senders/{id}': {
      operationId: 'updateSender',
      description:
        'Changes the fields that are sent. `senderName` and `commonType` can change only while the name is under our own review or rejected, `dateFrom` until it is approved, `dateTo` until it is closed. Any change sends a rejected name back into review.',
      examples: { close: { summary: 'Close the name at the end of 2034', value: { dateTo: '2035-01-01T00:00:00Z' } } },
    },
    'POST /senders/{id}/suspend': {
      operationId: 'suspendSender',
      description:
        'Stops all traffic under the name at once, in every status. Messages under it wait until `unsuspend`.',
      examples: { repair: { summary: 'With a reason', value: { reason: 'Under repair' } } },
    },
    'POST /senders/{id}/unsuspend': {
      operationId: 'unsuspendSender',
      description: 'Allows traffic under the name again. Waiting messages go on.',
      examples: { empty: { summary: 'No body is needed', value: {} } },
    },
    'POST /dispatches': {
      operationId: 'createDispatch',
      description:
        'Creates a dispatch and prices it. Nothing is sent before its start. A recipient who cannot be served does not fail the request: it is counted in `failed` and kept with an error code. With `dryRun=true` everything is computed and nothing is stored: `id` is 0.',
      examples: {
        order: {
          summary: 'One text, filled in for each recipient',
          value: {
            companyId: 1,
            name: 'Orders of today',
            senderIds: [1, 2, 3, 4],
            channelType: 'SMS',
            text: 'Hello, {name}! Your order {order} is ready.',
            messages: letters,
          },
        },
        scheduled: {
          summary: 'On Moscow mornings, with callbacks',
          value: {
            companyId: 1,
            name: 'Weekday mornings',
            senderIds: [1, 2, 3, 4],
            channelType: 'SMS',
            text: 'Good morning!',
            messages: [{ destination: '79160000001' }],
            schedule: { startAt: '2030-01-15T09:00:00+03:00', hours: [9, 10, 11], days: [1, 2, 3, 4, 5] },
            callbackUrl: 'https://example.com/tidings',
            callbackEvents: ['sent', 'delivered', 'failed'],
          },
        },
      },
      errors: [4040, 4290],
    },
    'POST /dispatches/{id}/messages': {
      operationId: 'addMessages',
      description:
        'Adds recipients to a dispatch in the status CREATED. The answer tells of this request alone. At most 100,000 recipients and 32 MiB a request.',
      examples: {
        more: {
          summary: 'One filled in, one with a text of its own',
          value: {
            messages: [
              { destination: '79160000001', substitutions: { name: 'Anna', order: 19 } },
              { destination: '79160000001', customText: 'Come early!' },
            ],
          },
        },
      },
    },
    'POST /dispatches/{id}/start': {
      operationId: 'startDispatch',
      description:
        'Starts a dispatch, or resumes a stopped one where it stopped. The start reserves the price of everything that is not sent yet; if the budget or a prepaid balance does not cover it, the answer is 4000 and nothing changes. Every sender name must be APPROVED. A second start changes nothing.',
      examples: { empty: { summary: 'No body is needed', value: {} } },
    },
    'POST /dispatches/{id}/stop': {
      operationId: 'stopDispatch',
      description:
        'Stops a started dispatch: messages that no operator has yet stay CREATED, and their reservation is released. A later start goes on there.',
      examples: { empty: { summary: 'No body is needed', value: {} } },
    },
    'GET /dispatches': {
      operationId: 'listDispatches',
      description: 'Lists the dispatches of a company, newest first.',
      errors: [4040],
    },
    'GET /dispatches/{id}': {
      operationId: 'getDispatch',
      description: 'Reads a dispatch, with counts of its messages and parts by result.',
    },
    'GET /dispatches/{id}/report': { operationId: 'reportDispatch', errors: [4290] },
    'GET /messages': {
      operationId: 'listMessages',
      description:
        'Lists every recipient ever submitted to the dispatch, rejected ones too, with text, price and result.',
      errors: [4040],
    },
    'PUT /recipients': {
      operationId: 'setBlacklisted',
      description:
        'Puts a number on the blacklist of a company, or takes it off. The list is checked when a message is accepted and again right before it is sent.',
      examples: {
        add: {
          summary: 'A subscriber asked for silence',
          value: { companyId: 1, msisdn: '+7 (916) 000-00-09', blacklist: true, comment: 'Asked us to stop' },
        },
        remove: { summary: 'Off the list again', value: { companyId: 1, msisdn: '79160000009', blacklist: false } },
      },
      errors: [4040],
    },
    'GET /price/tariffs': {
      operationId: 'listTariffs',
      description: 'Lists the tariffs of SMS to Russian numbers that fit the filters.',
    },
    'GET /price/senders': {
      operationId: 'listSenderFees',
      description: 'Lists what a paid sender name costs a month, by operator.',
    },
  },

  components: {
    Company: 'getCompany.200',
    ListedCompany: 'listCompanies.200.items',
    CompanyDocument: 'uploadDocument.201',
    Sender: 'createSender.201',
    DispatchCreation: 'createDispatch.200',
    PriceEstimate: 'createDispatch.200.priceEstimate',
    Dispatch: 'getDispatch.200',
    Counts: 'getDispatch.200.messages',
    Message: 'listMessages.200.items',
    Tariff: 'listTariffs.200.tariffs',
    SenderFee: 'listSenderFees.200.senderFees',
  },

  fields: {
    accepted: 'How many were accepted.',
    actualAddress: 'Where the company really is.',
    blacklist: 'Whether the number is on the blacklist: `true` puts it there, `false` takes it off.',
    brand: brandWords,
    'listTariffs.brand': 'Only tariffs of this operator. An unknown one gives an empty list.',
    'Tariff.brand': 'The operator that the tariff is for. Absent: for all of them.',
    'SenderFee.brand': 'The operator that takes the fee.',
    'listSenders.brand': 'Only names of these operators. Repeat the parameter for several.',
    brandId: 'The operator of the number: 1 MTS, 2 BEELINE, 3 MEGAFON, 4 TELE2, 0 any other.',
    budget: 'The most to spend in a calendar month. Absent or null: no limit.',
    'Company.budget': 'The monthly limit. Null: none.',
    'ListedCompany.budget': 'The monthly limit. Null: none.',
    callbackEvents: 'Which events are sent to `callbackUrl`. Without it `delivered` alone.',
    callbackUrl:
      'Where the service reports changes of messages: http or https, with login and password if you wish. See the callbacks below.',
    channelType: 'The channel that carries the message.',
    'listSenders.channelType': 'Only names of these channels. Repeat the parameter for several.',
    comment: 'Why the number is on the list. Kept for people.',
    commonType:
      'What the name is registered for: PROMO (advertising, may cost a fee), COMMON, MULTISIGNATURE; INTERNATIONAL_VERIFY and INTERNATIONAL_COMMON for numbers outside Russia.',
    'listSenders.commonType': 'Only names of these types. Repeat the parameter for several.',
    company: 'The company and its legal side.',
    companyId: 'The company, by the id that its creation answered.',
    counteragentAddress: 'The legal address.',
    counteragentInn: 'The tax number of the legal side: 10 or 12 digits.',
    counteragentKpp: 'The tax registration reason code, of legal entities.',
    counteragentName: 'The name of the legal side.',
    counteragentType: 'LEGAL: a legal entity. INDIVIDUAL: a sole proprietor.',
    countryCode: 'The country: two capital letters.',
    'listSenders.countryCode': 'Only names for these countries, such as `RU`. Repeat the parameter for several.',
    countryId: 'The country of the name. 1 is Russia, the default.',
    createdAt: 'When it was created.',
    currency: 'The currency, as ISO 4217 writes it.',
    customText: 'The whole text for this recipient, sent as it is, in place of the text of the dispatch.',
    dateFrom: 'From when the name is valid.',
    dateTo: 'When the name is closed. Null: open-ended.',
    days: 'Weekdays on which the dispatch may send: 1 (Monday) to 7 (Sunday).',
    delivered: 'Delivered to the subscriber.',
    deliveredAt: 'When it reached the subscriber. Null until then.',
    description: 'A comment for the people who review the name.',
    destination:
      'The telephone number in digits with its country code. Spaces, dashes, brackets and a leading + are removed. Ten digits that begin with 9 and have no + are a Russian number without its 7.',
    'Message.destination': 'The telephone number. Of a rejected recipient: as it was submitted.',
    dispatchId: 'The dispatch, by the id that its creation answered.',
    documentIds: 'Documents of the company that support the name, by their ids.',
    dryRun: 'With `true` the answer is computed as usual and nothing is stored.',
    errorCode: 'Why the message failed; present only then. `/docs/errors` explains every code.',
    event: 'The event that is reported.',
    failed: 'Recipients that were rejected.',
    'Counts.failed': 'Rejected, refused or not delivered.',
    failedAt: 'When the message failed.',
    fee: 'What the name costs a month. Null: nothing, or not approved yet.',
    file: 'The file: PDF, JPG or PNG, at most 10 MB.',
    filename: 'The name of the file as it was sent.',
    from: 'From which count in the month this price applies: messages for SCALED, different recipients for MAU.',
    hours: 'Hours in which the dispatch may send: 0 to 23.',
    id: 'The id that later requests use.',
    'DispatchCreation.id': 'The dispatch, for its start and for reading. 0 for a dry run.',
    'Idempotency-Key':
      'Makes a repeat count once: within 24 hours the same request with the same key gets the first answer again. Up to 255 printable ASCII characters.',
    items: 'The page.',
    login: 'The login of the partner.',
    managerComment: 'What staff said in the review. Null: nothing.',
    messageUuid: 'The message. The nil UUID for a dry run.',
    messages: 'The recipients: 1 to 100,000.',
    'DispatchCreation.messages': 'The accepted recipients, in the order submitted.',
    'Dispatch.messages': 'Counted in messages.',
    msisdn: 'The telephone number. In the answer: in plain digits.',
    name: 'The name, for people.',
    page: 'Which page, from 1.',
    parts: 'How many parts the text takes; each part is paid.',
    'Dispatch.parts': 'Counted in parts.',
    password: 'The password of the partner.',
    pending: 'Without a result yet.',
    perPage: 'How many on a page: 1 to 1000.',
    per_page: 'How many on a page: 1 to 1000.',
    price: 'The price: estimated until the message is final, then the amount that was charged.',
    'Tariff.price': 'The price of one message part.',
    priceEstimate: 'What the dispatch may cost at most.',
    priceMauBatch: 'The price of the package that begins at this count, once a month. Null outside of MAU.',
    prices: 'The prices, by count. FIXED has one.',
    pricingModel:
      'FIXED: one price. SCALED: by the number of messages in the month. MAU: by the number of different recipients in the month.',
    reason: 'Why the name is suspended. Shown as `suspendReason`.',
    rejectedAt: 'When staff rejected the name. Null: they did not.',
    schedule: 'When the dispatch may send. Hours and weekdays are read in the offset of `startAt`.',
    senderFees: 'The fees, by operator.',
    senderId: 'The sender name under which the message goes.',
    'Message.senderId': 'The sender name under which the message goes. Null for a rejected recipient.',
    senderIds:
      'Sender names of the company, at most one for each operator. The operator of each number decides which is used.',
    senderName:
      'The name that the subscriber sees: for SMS up to 11 Latin letters, digits and signs, else up to 64 characters.',
    senderType:
      'Which names the tariff is for: COMMON (shared or common names), START (registered), PRO (registered, with a monthly fee).',
    sentAt: 'When the operator took the message. Null until then.',
    startAt: 'Not before this moment. Its offset is the clock of `hours` and `days`. A past moment means now.',
    startedAt: 'When the dispatch was first started. Null until then.',
    status: 'The status now.',
    'listDispatches.status': 'Only dispatches in this status.',
    'listMessages.status': 'Only messages in this status.',
    'listSenders.status': 'Only names in these statuses. Repeat the parameter for several.',
    'updateCompany.status': 'ACTIVE, or DISABLED to stop the company.',
    'Company.status': 'ACTIVE, or DISABLED.',
    'ListedCompany.status': 'ACTIVE, or DISABLED.',
    'Sender.status':
      'Where the review is: DRAFT, PRE_REVIEW, INTERNAL_REVIEW, EXTERNAL_REVIEW, AWAITING, then APPROVED; or REJECTED, DENIED, CLOSED. Only an APPROVED name sends.',
    'Dispatch.status': 'CREATED, STARTED, STOPPED, or COMPLETED when every message has a result.',
    'Message.status': 'CREATED (waiting), SENT (the operator has it), DELIVERED or FAILED.',
    substitutions: 'Values for the placeholders of the text, by name: texts, numbers or truth values.',
    success: 'Recipients that were accepted.',
    suspendReason: 'Why the name is suspended. Absent if no reason was given.',
    suspended: 'Whether traffic under the name is stopped.',
    tariffs: 'The tariffs that fit the filters.',
    text: 'The text. A placeholder is written as {name}: a letter or _, then letters, digits or _.',
    'Message.text': 'The final text, with everything filled in. Null when the recipient was rejected before that.',
    token: 'The token, for `Authorization: Bearer`.',
    total: 'How many there are in all.',
    'DispatchCreation.total': 'Recipients submitted.',
    'PriceEstimate.total': 'The sum.',
    'PriceEstimate.parts': 'Parts of all accepted messages.',
    trafficType: 'What messages are about: PROMO, SERVICE, TRANSACT or AUTHORIZE.',
    'Tariff.trafficType': 'What messages the tariff is for. Absent: for all of them.',
    updatedAt: 'When it was last changed.',
    value: 'The amount.',
  },
}
