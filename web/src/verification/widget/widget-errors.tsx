import { useQuery } from '@tanstack/react-query'
import type { WidgetErrorsAnswer } from '../../../../src/http/cabinet/verification/verifiers.ts'
import { ask } from '../../api.ts'
import { useFormats } from '../../format.ts'
import { Section } from '../../parts/content/section.tsx'
import table from '../../parts/lists/table.module.css'
import { useWords } from '../../words/words.ts'
import { VERIFICATION } from '../verification.ts'

/** The errors that the widget showed, with reasons that visitors do not see. */
export function WidgetErrors({ id }: { id: string }) {
  const { say } = useWords()
  const { moment } = useFormats()
  const { data } = useQuery({
    queryKey: [...VERIFICATION, 'errors', id],
    queryFn: () => ask<WidgetErrorsAnswer>('GET', `/verification/widgets/${id}/errors`),
  })
  if (!data) return null
  return (
    <Section title={say('verification.widgetErrors')} note={say('verification.widgetErrors.note')}>
      {data.errors.length === 0 ? (
        <p className="note">{say('verification.widgetErrors.none')}</p>
      ) : (
        <table className={table.table}>
          <thead>
            <tr>
              <th>{say('verification.widgetErrors.error')}</th>
              <th>{say('verification.widgetErrors.reason')}</th>
              <th>{say('verification.widgetErrors.page')}</th>
              <th className={table.number}>{say('verification.widgetErrors.when')}</th>
            </tr>
          </thead>
          <tbody>
            {data.errors.map(({ code, reason, origin, number, at }, place) => (
              <tr key={`${at} ${place}`}>
                <td className={`${table.title} ${table.main}`}>{code}</td>
                <td data-label={say('verification.widgetErrors.reason')}>{reason}</td>
                <td data-label={say('verification.widgetErrors.page')}>
                  {origin ?? '–'}
                  {number && <span className={table.sub}>{number}</span>}
                </td>
                <td data-label={say('verification.widgetErrors.when')} className={table.number}>
                  {moment(at)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  )
}
