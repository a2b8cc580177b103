/** Names of pages in the navigation, problems, and lists: words that every page may need. */
export const shared = {
  'nav.audit': 'Audit log',
  'nav.blacklist': 'Blacklist',
  'nav.companies': 'Companies',
  'nav.partners': 'Partners',
  'problem.companyChanged':
    'Somebody else changed the company meanwhile. Close this, look at the new values and repeat your change.',
  'nav.developers': 'Developers',
  'problem.tooManyToSort':
    'There are too many companies to sort them by what they spent. Open a partner, or sort them by name.',
  'problem.changedMeanwhile':
    'Somebody else changed this meanwhile. Close the form, look at the new values and change them again.',
  'nav.documents': 'Documents',
  'nav.gateways': 'Gateways',
  'nav.health': 'Health',
  'nav.inbound': 'Incoming',
  'nav.links': 'Links',
  'nav.money': 'Money',
  'problem.keyUsed':
    'An earlier attempt of this form was taken. Close the form and look what was recorded before you try again.',
  'problem.termsChanged':
    'Somebody else changed the budget or the way of paying meanwhile. Close, look at the new values, and change them again.',
  'nav.numbering': 'Numbering',
  'nav.review': 'Review',
  'nav.senders': 'Sender names',
  'problem.nameSuspended': 'The sender name is suspended.',
  'problem.nameNotApproved': 'The sender name is not approved.',
  'problem.budget': 'The monthly budget of the company is too small for it.',
  'problem.balance': 'The balance of the company is too small for it.',
  'problem.notFree': 'More than is free cannot be taken off a prepaid balance.',
  'problem.companyDisabled': 'The company is disabled.',
  'problem.tooManyDispatches':
    'Too many dispatches are being sent or wait for their time. Start this one when others are done.',
  'problem.priceChanged': 'The price has changed meanwhile. Try again to see the new one.',
  'problem.nameTaken': 'This name is requested or registered already.',
  'list.page': 'Page {page} of {pages}',
  'list.previous': 'Previous',
  'list.next': 'Next',
  'list.nothing.title': 'Nothing fits',
  'list.nothing.text': 'Try other words or another state.',
  'list.nothing.reset': 'Show all',
  'nav.tariffs': 'Tariffs',
  'nav.prices': 'Prices',
  'nav.templates': 'Templates',
  'nav.verification': 'Verification',
} as const
