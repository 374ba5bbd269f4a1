package scenarios

import "webhooklab/lab"

// A language that takes true for 1 would call this retry exact.
var TrueIsNotOne = lab.Scenario{
	Name: "true_is_not_one",
	Law:  "JSON is compared as JSON: true and 1 are two contents",
	Play: func(l *lab.Lab) {
		one := paid
		one.Snapshot = []byte(`{"value": 1}`)
		sender := l.Session("sender")

		sender.Deliver(paid).Answers(lab.Applied)
		sender.Deliver(one).Answers(lab.ReusedEventID)
	},
}

// A provider that serialises anew for each attempt orders keys and writes numbers as it likes,
// and large integers must not be rounded on the way.
var SameJSONWrittenOtherwise = lab.Scenario{
	Name: "same_json_written_otherwise",
	Law:  "JSON is compared as JSON: key order and spelling are not content, digits are",
	Play: func(l *lab.Lab) {
		written := func(snapshot string) lab.Delivery {
			d := paid
			d.Snapshot = []byte(snapshot)
			return d
		}
		sender := l.Session("sender")

		sender.Deliver(written(`{"a": 1, "b": [100, "é", 9007199254740993]}`)).Answers(lab.Applied)
		sender.Deliver(written(`{"b":[1e2,"\u00e9",9007199254740993],"a":1.0}`)).
			Answers(lab.Duplicate)
		sender.Deliver(written(`{"a": 1, "b": [100, "é", 9007199254740992]}`)).
			Answers(lab.ReusedEventID)
	},
}
