import { useWords } from '../../words/words.ts'
import { Dialog } from '../dialogs/dialog.tsx'
import type { Kept } from './kept-form.ts'
import { useLeaving } from './leaving.ts'
import { RestoredNote } from './restored-note.tsx'

/**
 * Belongs to every form that fills a page. It says that a draft was restored, and asks before a changed draft is lost.
 */
export function UnsavedForm<Draft>({ kept: { isRestored, isUnsaved, startAgain, forget } }: { kept: Kept<Draft> }) {
  const { say } = useWords()
  const leaving = useLeaving(isUnsaved)
  return (
    <>
      {isRestored && <RestoredNote onStartAgain={startAgain} />}
      {leaving.status === 'blocked' && (
        <Dialog
          title={say('form.leave.title')}
          text={say('form.leave.text')}
          submit={say('form.leave')}
          close={say('form.stay')}
          isDangerous
          onClose={leaving.reset}
          onSubmit={() => {
            forget()
            leaving.proceed()
          }}
        />
      )}
    </>
  )
}
