import { startSmsc } from '../src/channels/smpp/smsc/smsc.ts'
import { serveParent } from './child.ts'

/** The operator: takes everything and reports at once. */
const smsc = await startSmsc({ port: 0 })

serveParent(smsc.port, () => smsc.stop())
