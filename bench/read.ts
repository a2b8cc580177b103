import { askFor, type Connection, jsonOf, openConnection, requestBytes } from './client.ts'
import { type Figure, inTurn } from './figures.ts'
import { dispatchOf, inventRecipients, REQUEST_SIZE } from './recipients.ts'
import { onStage } from './stage.ts'

export const name = 'read'
export const about = 'requests a second of GET /dispatches/{id} and GET /messages beside a bare route, same SELECTs'

const ROUNDS = 9
const ROUND_MS = 1500
const CONNECTIONS = 32

export function run(): Promise<Figure[]> {
  return onStage(async stage => {
    const [service, bare] = await Promise.all([stage.startService(), stage.startBare()])
    const ours = await openConnections(service.port)
    const floor = await openConnections(bare.port)

    const body = dispatchOf(stage, inventRecipients(REQUEST_SIZE))
    const create = requestBytes(stage.partner.token, 'POST /partner/v1/dispatches', body)
    const { id } = jsonOf(await ours[0]!.ask(create))
    await stage.sql`vacuum analyze`

    const compare = (path: string) =>
      beside(
        path,
        () => askFor(ROUND_MS, ours, requestBytes(stage.partner.token, `GET /partner/v1${path}`)),
        () => askFor(ROUND_MS, floor, requestBytes(stage.partner.token, `GET ${path}`)),
      )
    return [...(await compare(`/dispatches/${id}`)), ...(await compare(`/messages?dispatchId=${id}`))]
  })
}

const openConnections = (port: number): Promise<Connection[]> =>
  Promise.all(Array.from({ length: CONNECTIONS }, () => openConnection(port)))

async function beside(path: string, ask: () => Promise<number>, askBare: () => Promise<number>): Promise<Figure[]> {
  const { ours, floor, ratio } = await inTurn(ROUNDS, ask, askBare)
  return [
    { what: `GET ${path}`, value: ours, unit: 'requests/s' },
    { what: `GET ${path}, bare`, value: floor, unit: 'requests/s' },
    { what: `GET ${path}, to bare`, value: ratio, unit: '', target: { least: 0.6 } },
  ]
}
