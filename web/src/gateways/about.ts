import { brandNames } from '../parts/names/operator-names.ts'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { oneOf } from '../search-values.ts'
import { useWords } from '../words/words.ts'
import type { Gateway } from './gateways.ts'

type Named = Pick<Gateway, 'channelType' | 'connector' | 'brands' | 'wanted'>

/** A gateway in one line: channel, connector, connections, operators. */
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
      : brands.map(brand => operator(oneOf(brandNames, brand) ?? null)).join(', ')
}

const known = ['simulator', 'smpp', 'whatsapp', 'telegram', 'telegram-gateway', 'http', 'push'] as const

/** The name of a connector. A connector of a newer version of the service has no translation. */
export function useConnectorName() {
  const { say } = useWords()
  return (connector: string) => {
    const name = known.find(one => one === connector)
    return name ? say(`gateway.connector.${name}`) : connector
  }
}
