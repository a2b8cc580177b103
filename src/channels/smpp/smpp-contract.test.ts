import type { AddressInfo } from 'node:net'
import smppPackage, { type PDU as PackagePdu, type Session as PackageSession } from 'smpp'
import { afterEach, describe, expect } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import { channelContract, type SubjectOptions } from '../channel.contract.ts'
import type { Channel } from '../channel.ts'
import { Smpp } from './smpp.ts'
import { startSmsc } from './smsc/smsc.ts'

const destinations = {
  delivered: '79160000001',
  undelivered: '79160000003',
  refused: '79160000004',
  busy: '79160000009',
}

const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0)) await end()
})

/** SMPP carries no uuid, so the SMSC identifies a message by its text: the text "Hello" is replaced by the uuid. */
async function aSubject(port: number, { feed }: SubjectOptions, texts: string[]) {
  const inner = new Smpp({ host: '127.0.0.1', port, systemId: 'tidings', password: 'secret', window: 20 }, feed)
  const channel: Channel = {
    window: inner.window,
    health: () => inner.health(),
    stop: () => inner.stop(),
    submit: (batch, report, mayGo) =>
      inner.submit(
        batch.map(message => (message.text === 'Hello' ? { ...message, text: message.uuid } : message)),
        report,
        mayGo,
      ),
  }
  await eventually(() => expect(channel.health().up).toBe(true))
  return { channel, handed: () => texts }
}

describe('SMPP with our SMSC', () => {
  channelContract(async options => {
    const texts: string[] = []
    const smsc = await startSmsc({
      testNumbers: true,
      answerMs: options.answerMs,
      onMessage: ({ text }) => texts.push(text),
    })
    atEnd.push(() => smsc.stop())
    return aSubject(smsc.port, options, texts)
  }, destinations)
})

describe('SMPP with the package smpp as the server', () => {
  channelContract(async options => {
    const texts: string[] = []
    return aSubject(await startPackageServer(texts, options.answerMs ?? 0), options, texts)
  }, destinations)
})

async function startPackageServer(texts: string[], answerMs: number): Promise<number> {
  const { ESME_RINVDSTADR, ESME_RTHROTTLED } = smppPackage.errors
  let lastId = 0
  let wasBusy = false
  const server = smppPackage.createServer({}, session => {
    session.on('error', () => {})
    for (const command of ['bind_transceiver', 'enquire_link', 'unbind'])
      session.on(command, (pdu: PackagePdu) => session.send(pdu.response()))
    session.on('submit_sm', (pdu: PackagePdu) => {
      const refusal = refusalOf(pdu.destination_addr)
      if (refusal) return session.send(pdu.response({ command_status: refusal }))
      const id = String(++lastId)
      texts.push(pdu.short_message.message)
      setTimeout(() => {
        session.send(pdu.response({ message_id: id }))
        report(session, pdu.destination_addr, id)
      }, answerMs)
    })
  })

  function refusalOf(destination: string): number | undefined {
    if (destination === destinations.refused) return ESME_RINVDSTADR
    if (destination !== destinations.busy || wasBusy) return undefined
    wasBusy = true
    return ESME_RTHROTTLED
  }

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atEnd.push(() => {
    for (const session of server.sessions) session.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Repeats a receipt until it is acknowledged, as operators do. */
function report(session: PackageSession, destination: string, id: string) {
  const stat = destination === destinations.undelivered ? 'UNDELIV' : 'DELIVRD'
  const short_message = `id:${id} sub:001 dlvrd:001 submit date:2601011200 done date:2601011201 stat:${stat} err:000 text:`
  session.deliver_sm({ esm_class: 4, source_addr: destination, short_message }, (answer: PackagePdu) => {
    if (answer.command_status !== 0) setTimeout(() => report(session, destination, id), 20)
  })
}
