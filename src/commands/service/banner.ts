import type { Demo as World } from './demo.ts'
import { inWords, type ProcessCounts } from './processes/counts.ts'

/** The demo world, and the page that shows the widget in it. */
type Demo = World & { widgetDemo?: string | undefined }

export type Addresses = { url: string; cabinet: string; partnerApi: string; messagingApi: string; docs: string }

type Started = { data: string; processes?: ProcessCounts; demo?: Demo | undefined }

export const addressesOf = (url: string): Addresses => ({
  url,
  cabinet: `${url}/cabinet/`,
  partnerApi: `${url}/partner/v1`,
  messagingApi: `${url}/api/v1`,
  docs: `${url}/docs`,
})

/** The text after the start of the service: its address, the login, and commands to try on this machine. */
export function bannerOf(addresses: Addresses, { data, processes, demo }: Started, localUrl: string): string {
  return [
    'Tidings is up.',
    '',
    `  Cabinet         ${addresses.cabinet}`,
    `  Partner API     ${addresses.partnerApi}`,
    `  Messaging API   ${addresses.messagingApi}`,
    `  API reference   ${addresses.docs}`,
    `  Data            ${data}`,
    ...(processes ? [`  Processes       ${inWords(processes)}`] : []),
    ...(demo ? demoLines(demo, localUrl) : []),
    '',
  ].join('\n')
}

function demoLines(demo: Demo, localUrl: string): string[] {
  const { login, companyLogin, staffLogin, password, companyId, key, widgetDemo } = demo
  const shown = password ?? '(as printed at the first start; TIDINGS_DEMO_PASSWORD sets a new one)'
  return [
    ...(widgetDemo ? [`  Widget demo     ${widgetDemo}`] : []),
    '',
    ...(companyLogin ? [`  Demo company    ${companyLogin}`] : []),
    `  Demo partner    ${login}`,
    ...(staffLogin ? [`  Demo staff      ${staffLogin}`] : []),
    `  Password        ${shown}`,
    ...(key ? ['', `  MESSAGE key of company ${companyId} (shown only this once)`, `  ${key}`] : []),
    ...tryLines(demo, `${localUrl}/partner/v1`),
  ]
}

function tryLines(demo: Demo, partnerApi: string): string[] {
  if (!demo.password || !demo.companyId || demo.senderIds.length === 0) return []
  const login = JSON.stringify({ login: demo.login, password: demo.password })
  const dispatch = JSON.stringify({
    companyId: demo.companyId,
    name: 'Hello',
    senderIds: demo.senderIds,
    channelType: 'SMS',
    text: 'Hello, {name}!',
    messages: [{ destination: '79160000001', substitutions: { name: 'Anna' } }],
  })
  const auth = '-H "Authorization: Bearer $TOKEN"'
  const json = "-H 'Content-Type: application/json'"
  return [
    '',
    'Try it: get a token, create a priced dispatch, send it, and see what became of it.',
    '',
    `  TOKEN=$(curl -s ${partnerApi}/auth/token ${json} -d ${quoted(login)} | cut -d '"' -f 4)`,
    `  DISPATCH=$(curl -s ${partnerApi}/dispatches ${auth} ${json} -d ${quoted(dispatch)} | cut -d : -f 2 | cut -d , -f 1)`,
    `  curl -s -X POST ${partnerApi}/dispatches/$DISPATCH/start ${auth}; sleep 1`,
    `  curl -s "${partnerApi}/messages?dispatchId=$DISPATCH" ${auth}`,
  ]
}

/** Quotes any text as one word for the shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
