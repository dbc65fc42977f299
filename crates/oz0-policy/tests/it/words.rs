use oz0_policy::annex_iii::mentions;
use proptest::prelude::*;

fn found(text: &str) -> Vec<(u8, &str)> {
    mentions(text).into_iter().map(|mention| (mention.area.number, &text[mention.range])).collect()
}

#[test]
fn each_area_is_found_by_its_words() {
    for (text, wanted) in [
        ("Identifies visitors by facial recognition.", (1, "facial recognition")),
        ("Reads SCADA alarms of a power plant.", (2, "SCADA")),
        ("Grades the essays of students.", (3, "Grades the essays of students")),
        ("Screens all incoming job applicants.", (4, "Screens all incoming job applicants")),
        ("Helps with credit scoring.", (5, "credit scoring")),
        ("Suggests insurance pricing.", (5, "insurance pricing")),
        ("Checks who is eligible for public benefits.", (5, "public benefits")),
        ("Sorts emergency calls.", (5, "emergency calls")),
        ("Categorises people by race.", (1, "Categorises people")),
        ("Operates the pumps of a water utility.", (2, "water utility")),
        ("Decides admission to universities.", (3, "admission to universities")),
        ("Decides on promotions and terminations.", (4, "promotions and terminations")),
        ("Prepares the dismissal of staff.", (4, "dismissal of staff")),
        ("Routes 911 calls.", (5, "911 calls")),
        ("Assists courts in interpreting the law.", (8, "Assists courts")),
        ("Keeps the files of a defendant.", (8, "defendant")),
        ("For law enforcement agencies.", (6, "law enforcement")),
        ("Answers asylum seekers.", (7, "asylum seekers")),
        ("Drafts judicial decisions.", (8, "judicial decisions")),
        ("Finds messages that influence the next election.", (8, "influence the next election")),
    ] {
        assert_eq!(found(text).first(), Some(&wanted), "{text}");
    }
}

#[test]
fn words_match_in_any_case_with_hyphens_and_across_lines() {
    assert_eq!(found("CREDIT-SCORING"), [(5, "CREDIT-SCORING")]);
    assert_eq!(found("credit\nscores"), [(5, "credit\nscores")]);
    assert_eq!(found("microcredit scoring"), []);
    assert_eq!(found("credit_scoring"), []);
}

#[test]
fn plain_software_words_point_at_nothing() {
    for text in [
        "Sorts incoming issues by component.",
        "Triages issues and assigns them to the person who wrote the code.",
        "Runs database migrations and checks the schema.",
        "Follows the leader election of the cluster.",
        "Tags a release candidate and promotes it.",
        "Resumes a download where it stopped.",
        "Queues background jobs and cron jobs.",
        "Draws a border around the table cells.",
        "Enforces the access policy of the repository.",
        "Reviews pull requests for performance.",
        "Grades a site's TLS configuration.",
        "Balances traffic between servers.",
        "Dispatches events to their handlers.",
        "Takes credit card payments.",
        "Judges an answer with a second model.",
        "Fingerprints the build artefacts.",
        "Trains a model and watches its learning rate.",
        "Kills the worker threads that hang.",
        "Collects evidence of a failed test run.",
        "Resolves merge conflicts.",
        "Checks the interface of a package.",
        "Writes infrastructure as code.",
        "Posts a summary to the team's channel.",
        "Reads court bookings of a tennis club.",
        "Handles 999 calls a second, and interprets the schema.",
        "Promotes a build to production after a promotion gate.",
        "Categorises issues by people.",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn a_look_alike_takes_its_own_words_and_no_others() {
    assert_eq!(found("Unlocks the vault with a biometric login."), []);
    assert_eq!(
        found("A biometric login, and biometric identification of visitors"),
        [(1, "biometric")]
    );
    assert_eq!(found("Influences the leader election"), []);
}

proptest! {
    #[test]
    fn no_text_panics_and_every_mention_lies_in_it(text in "\\PC{0,200}") {
        for mention in mentions(&text) {
            prop_assert!(text.get(mention.range).is_some_and(|words| !words.is_empty()));
        }
    }
}
