import type { Receipt } from '../channel.ts'
import type { SimulatorSettings } from './settings.ts'

export const endingOf = (destination: string) => destination.slice(-4)

export const happens = (rate: number) => rate > 0 && Math.random() < rate

type PlannedReceipt = { status: Receipt['status']; afterMs: number }

/** The receipts of an accepted message, with their delays. */
export function plannedReceipts(destination: string, settings: SimulatorSettings): PlannedReceipt[] {
  switch (endingOf(destination)) {
    case '0001':
    case '0007':
    case '0009':
      return [{ status: 'DELIVERED', afterMs: 0 }]
    case '0002':
      return [{ status: 'DELIVERED', afterMs: 5000 }]
    case '0003':
      return [{ status: 'FAILED', afterMs: 0 }]
    case '0005':
      return []
    case '0006':
      return [
        { status: 'DELIVERED', afterMs: 0 },
        { status: 'DELIVERED', afterMs: 0 },
      ]
    case '0008':
      return [
        { status: 'DELIVERED', afterMs: 0 },
        { status: 'READ', afterMs: 1000 },
      ]
    default: {
      const afterMs = Math.random() * settings.receiptMs
      return [{ status: happens(settings.failRate) ? 'FAILED' : 'DELIVERED', afterMs }]
    }
  }
}
