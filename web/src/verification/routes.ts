import { createRoute } from '@tanstack/react-router'
import { ofOneCompany, pageOf } from '../shell/page.ts'
import { needs, requireRight, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { readVerification, verificationQuery } from './verification.ts'

const verificationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/verification',
  validateSearch: readVerification,
  beforeLoad: needs('settings.see'),
  ...pageOf(
    () => withWords('verification', import('./verification-page.tsx')),
    'VerificationPage',
    ofOneCompany((companyId, { search }) => [verificationQuery(companyId, readVerification(search))]),
  ),
})

/** The id `new` opens the form for a new verifier. */
const verifierRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/verification/verifiers/$id',
  beforeLoad: ({ context, params }) =>
    requireRight(context.me, params.id === 'new' ? 'settings.change' : 'settings.see'),
  ...pageOf(() => withWords('verification', import('./editor/editor-page.tsx')), 'VerifierPage'),
})

const widgetRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/verification/widgets/$id',
  beforeLoad: ({ context, params }) =>
    requireRight(context.me, params.id === 'new' ? 'settings.change' : 'settings.see'),
  ...pageOf(() => withWords('verification', import('./editor/editor-page.tsx')), 'WidgetPage'),
})

export const verificationRoutes = [verificationRoute, verifierRoute, widgetRoute] as const
