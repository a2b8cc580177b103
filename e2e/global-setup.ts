import { buildWidget } from '../scripts/build-widget.ts'

/** The tests see the widget as its sources are now, not as they were at the last build. */
export default () => buildWidget()
