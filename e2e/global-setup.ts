import { buildCabinet, isCabinetOld } from '../scripts/build-cabinet.ts'
import { buildWidget } from '../scripts/build-widget.ts'

/** Builds the widget and the cabinet before the tests, so that the tests use the current sources. */
export default async () => {
  await buildWidget()
  if (await isCabinetOld()) await buildCabinet()
}
