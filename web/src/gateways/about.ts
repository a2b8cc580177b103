import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { useWords } from '../words/words.ts'
import type { Gateway } from './gateways.ts'

type Named = Pick<Gateway, 'channelType' | 'connector' | 'brands' | 'wanted'>

/** A gateway in a line: channel, connector, connections, operators. */
export function useAboutGateway() {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  const connectorName = useConnectorName()
  const operators = useOperatorNames()
  return ({ channelType, connector, brands, wanted }: Named) => {
    const connections = wanted > 0 ? `, ${say('gateway.binds', { count: wanted })}` : ''
    return `${channel(channelType)} · ${connectorName(connector)}${connections} · ${operators(brands)}`
  }
}

export function useOperatorNames() {
  const { say } = useWords()
  const { operator } = useTrafficNames()
  return (brands: string[]) =>
    brands.length === 0
      ? say('gateway.anyOperator')
      : brands.map(brand => operator(brand === 'OTHER' ? null : (brand as 'MTS'))).join(', ')
}

const known = ['simulator', 'smpp', 'whatsapp', 'telegram', 'telegram-gateway', 'http', 'push'] as const

/** A newer version of the service may know others. */
export function useConnectorName() {
  const { say } = useWords()
  return (connector: string) => {
    const name = known.find(one => one === connector)
    return name ? say(`gateway.connector.${name}`) : connector
  }
}
