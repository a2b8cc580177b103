import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { OneCompany } from '../parts/pages/one-company.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useWords } from '../words/words.ts'
import { BeginAgain } from './begin-again.tsx'
import { SendForm } from './send-form.tsx'
import { SentMessage } from './sent-message.tsx'

const route = getRouteApi('/shell/send')

/** One message, or a cascade to one number. The address contains the sent message, so that a reload shows it again. */
export function SendPage() {
  const { say } = useWords()
  const { to, again, sent } = route.useSearch()
  const navigate = route.useNavigate()
  const [round, setRound] = useState(0)
  const show = (uuid: string | undefined) => navigate({ search: before => ({ ...before, sent: uuid, to: undefined }) })
  const begun = useCallback(
    () => void navigate({ search: before => ({ ...before, again: undefined }), replace: true }),
    [navigate],
  )
  const startAnew = () => {
    setRound(round + 1)
    void show(undefined)
  }
  return (
    <>
      <PageHead title={say('send.title')} note={say('send.note')} />
      <OneCompany>
        {companyId =>
          sent ? (
            <SentMessage uuid={sent} companyId={companyId} onAnother={startAnew} />
          ) : again ? (
            <BeginAgain uuid={again} companyId={companyId} onBegun={begun} />
          ) : (
            <SendForm key={`${companyId} ${round}`} companyId={companyId} to={to} onSent={uuid => void show(uuid)} />
          )
        }
      </OneCompany>
    </>
  )
}
