import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { colorSchemeManager, cssVariablesResolver, theme } from './look/theme.ts'
import { useIsDrawn } from './parts/first-drawing.ts'
import { NotFoundPage, PageError } from './parts/pages/lost-pages.tsx'
import { router } from './router.tsx'
import { queryClient } from './session.ts'

/** No notification appears before the person does something, so the first load leaves this component out. */
const Toasts = lazy(() => import('./parts/dialogs/toasts.tsx'))

export const App = ({ nonce }: { nonce: string }) => (
  <MantineProvider
    theme={theme}
    cssVariablesResolver={cssVariablesResolver}
    colorSchemeManager={colorSchemeManager}
    defaultColorScheme="auto"
    getStyleNonce={() => nonce}
  >
    <QueryClientProvider client={queryClient}>
      <LaterToasts />
      <RouterProvider router={router} defaultErrorComponent={PageError} defaultNotFoundComponent={NotFoundPage} />
    </QueryClientProvider>
  </MantineProvider>
)

const LaterToasts = () =>
  useIsDrawn() && (
    <Suspense>
      <Toasts />
    </Suspense>
  )
