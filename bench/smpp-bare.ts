import smpp, { type PDU, type Session } from 'smpp'

/**
 * The floor: the package `smpp` in a bare loop, in a process of its own. Submits messages over some binds with a window
 * each, acknowledges their receipts, and tells its parent how long it took until the last one. It keeps nothing.
 */
type Task = { port: number; binds: number; window: number; messages: number; text: string }

process.on('message', (task: Task) => {
  if (typeof task !== 'object') return
  void submitAll(task).then(ms => process.send!({ ms }))
})
process.on('disconnect', () => process.exit())
process.send!({ port: 0 })

async function submitAll({ port, binds, window, messages, text }: Task): Promise<number> {
  const sessions = await Promise.all(Array.from({ length: binds }, () => bind(port)))
  const done = Promise.withResolvers<void>()
  let sent = 0
  let received = 0
  const begun = performance.now()
  for (const session of sessions) {
    session.on('deliver_sm', (pdu: PDU) => {
      session.send(pdu.response())
      if (++received === messages) done.resolve()
    })
    for (let i = 0; i < window; i++) submitNext(session)
  }

  function submitNext(session: Session) {
    if (sent >= messages) return
    const number = 79_160_000_000 + sent++
    session.submit_sm(
      {
        source_addr_ton: 5,
        source_addr: 'VETEROK',
        dest_addr_ton: 1,
        dest_addr_npi: 1,
        destination_addr: String(number),
        registered_delivery: 1,
        short_message: text,
      },
      () => submitNext(session),
    )
  }

  await done.promise
  for (const session of sessions) session.destroy()
  return performance.now() - begun
}

function bind(port: number): Promise<Session> {
  return new Promise((resolve, reject) => {
    const session = smpp.connect({ url: `smpp://127.0.0.1:${port}` }, () => {
      session.bind_transceiver({ system_id: 'bare', password: 'secret' }, () => resolve(session))
    })
    session.on('error', reject)
  })
}
