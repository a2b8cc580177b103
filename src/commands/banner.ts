import type { Demo } from './demo.ts'

export type Addresses = { url: string; partnerApi: string; messagingApi: string; docs: string }

/** What a person reads when the service is up: where it is, who may log in, and a line to try. */
export function bannerOf(addresses: Addresses, place: string, demo: Demo | undefined): string {
  const lines = [
    'Tidings is up.',
    '',
    `  Partner API     ${addresses.partnerApi}`,
    `  Messaging API   ${addresses.messagingApi}`,
    `  API reference   ${addresses.docs}`,
    `  Data            ${place}`,
  ]
  return [...lines, ...(demo ? demoLines(addresses, demo) : []), ''].join('\n')
}

function demoLines(addresses: Addresses, demo: Demo): string[] {
  return [
    '',
    ...loginLines(demo),
    ...(demo.key ? ['', `  MESSAGE key of company ${demo.companyId} (shown only this once)`, `  ${demo.key}`] : []),
    '',
    ...tryLines(addresses, demo),
  ]
}

function loginLines({ login, staffLogin, password }: Demo): string[] {
  const shown = password ?? '(as printed at the first start; TIDINGS_DEMO_PASSWORD sets a new one)'
  return [
    `  Demo partner    ${login}`,
    ...(staffLogin ? [`  Demo staff      ${staffLogin}`] : []),
    `  Password        ${shown}`,
  ]
}

function tryLines({ partnerApi }: Addresses, demo: Demo): string[] {
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
  return [
    'Try it: get a token, then create a priced dispatch.',
    '',
    `  TOKEN=$(curl -s ${partnerApi}/auth/token -H 'Content-Type: application/json' -d ${quoted(login)} | cut -d '"' -f 4)`,
    `  curl -s ${partnerApi}/dispatches -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d ${quoted(dispatch)}`,
  ]
}

/** One word for the shell, whatever is in it. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
