import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Icon } from '../parts/content/icon.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { Tabs } from '../parts/pages/tabs.tsx'
import { useWords } from '../words/words.ts'

type Props = { note?: ReactNode; action?: ReactNode; children: ReactNode }

/** The common frame of the three pages for developers: the title, the links to the API references, and the tabs. */
export function DevelopersFrame({ note, action, children }: Props) {
  const { say } = useWords()
  return (
    <>
      <PageHead
        title={say('developers.title')}
        note={note ?? '\u00a0'}
        actions={
          <>
            <Button component="a" href={docsAddress('')} leftSection={<Icon name="book" />}>
              {say('developers.reference')}
            </Button>
            {action}
          </>
        }
      />
      <Tabs
        label={say('developers.tabs')}
        tabs={[
          { to: '/developers', name: say('developers.keys') },
          { to: '/developers/callbacks', name: say('developers.callbacks') },
          { to: '/developers/requests', name: say('developers.requests') },
        ]}
      />
      {children}
    </>
  )
}

/** A link to the explanation of the error codes. */
export function ErrorCodesLink() {
  const { say } = useWords()
  return (
    <a className="link" href={docsAddress('/errors')}>
      {say('developers.errors')}
    </a>
  )
}

/** The API reference is outside of the cabinet. The URL is relative, because a proxy may serve Tidings below a path. */
const docsAddress = (rest: string) => new URL(`../docs${rest}`, document.baseURI).href
