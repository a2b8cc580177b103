import { buildCabinet, isCabinetOld } from '../scripts/build-cabinet.ts'
import { buildWidget } from '../scripts/build-widget.ts'

/** The tests see the widget and the cabinet as their sources are now, not as they were at the last build. */
export default async () => {
  await buildWidget()
  if (await isCabinetOld()) await buildCabinet()
}
