/** The connectors, by the names that gateways are added with; catalogue.ts tells what each of them can do. */
export const connectorNames = ['simulator', 'smpp', 'whatsapp', 'telegram', 'telegram-gateway', 'http', 'push'] as const

export type ConnectorName = (typeof connectorNames)[number]
